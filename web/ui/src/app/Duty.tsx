import { Button, Center, Code, CopyButton, Group, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, got, type Schemas } from "@/api/client";
import { Failure } from "@/parts/Failure";
import { useCommand } from "@/parts/useCommand";

/** What somebody has to do before anything else: choose a password, or set up one-time codes. */
export function Duty(p: { session: Schemas["Session"]; onDone: (s: Schemas["Session"]) => void; onSignOut: () => void }) {
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={420} shadow="sm">
        {p.session.must === "change_password" ? <ChoosePassword onDone={p.onDone} /> : <Enrol onDone={p.onDone} />}
        <Button variant="subtle" mt="md" fullWidth onClick={p.onSignOut}>
          Sign out
        </Button>
      </Paper>
    </Center>
  );
}

export function ChoosePassword({ onDone }: { onDone: (s: Schemas["Session"]) => void }) {
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const short = next.length > 0 && next.length < 12;
  const differs = again.length > 0 && again !== next;
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      onDone(await got(api.PUT("/v1/session/password", { body: { old, new: next } })));
    } catch (x) {
      setError(x);
    }
    setBusy(false);
  };
  return (
    <form onSubmit={(e) => void submit(e)}>
      <Stack>
        <Title order={1} size="h3">
          Choose a password
        </Title>
        <Text size="sm" c="dimmed">
          At least 12 characters. A sentence is easier to remember than a word with signs in it.
        </Text>
        <PasswordInput label="Present password" autoComplete="current-password" value={old} onChange={(e) => setOld(e.currentTarget.value)} required data-autofocus />
        <PasswordInput label="New password" autoComplete="new-password" value={next} onChange={(e) => setNext(e.currentTarget.value)} required error={short ? "It has fewer than 12 characters" : undefined} />
        <PasswordInput label="New password again" autoComplete="new-password" value={again} onChange={(e) => setAgain(e.currentTarget.value)} required error={differs ? "It is not the same" : undefined} />
        {error !== null && <Failure error={error} />}
        <Button type="submit" loading={busy} disabled={next.length < 12 || again !== next || old === ""}>
          Set password
        </Button>
      </Stack>
    </form>
  );
}

export function Enrol({ onDone }: { onDone: (s: Schemas["Session"]) => void }) {
  const [secret, setSecret] = useState<{ url: string; key: string } | null>(null);
  const [present, setPresent] = useState("");
  const [code, setCode] = useState("");
  const [error, setError] = useState<unknown>(null);
  const { run: make, busy } = useCommand();
  const run = async (f: () => Promise<void>) => {
    setError(null);
    try {
      await f();
    } catch (x) {
      setError(x);
    }
  };
  return (
    <Stack>
      <Title order={1} size="h3">
        Set up one-time codes
      </Title>
      {!secret ? (
        <>
          <Text size="sm" c="dimmed">
            An authenticator app makes a new code every 30 seconds. If you have codes already, type one to replace them.
          </Text>
          <TextInput label="Present code" description="Only where you have one" inputMode="numeric" autoComplete="one-time-code" value={present} onChange={(e) => setPresent(e.currentTarget.value)} />
          <Button loading={busy} onClick={() => void run(async () => setSecret(await make("", (key) => got(api.POST("/v1/session/code", { params: { header: { "Idempotency-Key": key } }, body: present ? { code: present } : {} })))))}>
            Make a key
          </Button>
        </>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void run(async () => onDone(await got(api.PUT("/v1/session/code", { body: { code } }))));
          }}
        >
          <Stack>
            <Text size="sm">Type this key into your authenticator app, or open the link on the device that has it.</Text>
            <Group gap="xs">
              <Code>{secret.key}</Code>
              <CopyButton value={secret.key}>
                {({ copied, copy }) => (
                  <Button size="compact-xs" variant="light" onClick={copy}>
                    {copied ? "Copied" : "Copy"}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <a href={secret.url}>Open in an authenticator app</a>
            <TextInput label="Code that it shows" inputMode="numeric" autoComplete="one-time-code" maxLength={8} value={code} onChange={(e) => setCode(e.currentTarget.value)} required />
            <Button type="submit" disabled={code.length < 6}>
              Confirm
            </Button>
          </Stack>
        </form>
      )}
      {error !== null && <Failure error={error} />}
    </Stack>
  );
}
