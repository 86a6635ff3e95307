import { Anchor, Button, Center, Code, Divider, Modal, Paper, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, got, Problem, type Schemas } from "@/api/client";
import { Failure } from "@/parts/Failure";

interface Props {
  onSignedIn: (s: Schemas["Session"]) => void;
  /** Whose session has ended: the page behind stays as it was. */
  again?: string;
  /** What the server says to do first: make an account, where there is none. */
  hint?: string;
  /** There is a provider to sign in through. */
  singleSignOn?: boolean;
}

export function SignIn(p: Props) {
  if (p.again !== undefined) {
    return (
      <Modal opened onClose={() => undefined} withCloseButton={false} closeOnEscape={false} closeOnClickOutside={false} title="Your session has ended" overlayProps={{ blur: 6 }}>
        <Text size="sm" mb="md">
          After 15 minutes without use, or because the server was started anew. Sign in again and go on where you were.
        </Text>
        <Form {...p} />
      </Modal>
    );
  }
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={380} shadow="sm">
        <Title order={1} size="h2" mb={4}>
          claimdlq
        </Title>
        <Text c="dimmed" size="sm" mb="lg">
          Claims that failed, why, and what to do about it.
        </Text>
        {p.hint?.startsWith("claimdlq ") && (
          <Text size="sm" mb="md" role="status">
            There is no account yet. Make the first one on the machine itself: <Code>{p.hint}</Code>
          </Text>
        )}
        <Form {...p} />
      </Paper>
    </Center>
  );
}

/** What the way back from the provider says, by the fragment of the address. */
const told: Record<string, string> = {
  "#sign-in-refused": "Single sign-on did not let you in. Try again; if it stays so, ask your administrator: the audit log says why.",
  "#no-single-sign-on": "Single sign-on is not set up here. Sign in with a login and a password.",
};

function Form({ onSignedIn, again, singleSignOn }: Props) {
  const [login, setLogin] = useState(again ?? "");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const s = await got(api.POST("/v1/session", { body: { login, password, ...(code ? { code } : {}) } }));
      setPassword("");
      if (told[location.hash]) history.replaceState(null, "", location.pathname + location.search);
      onSignedIn(s);
    } catch (x) {
      setError(x);
    }
    setBusy(false);
  };
  const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
  return (
    <form onSubmit={(e) => void submit(e)}>
      <Stack>
        {error === null && told[location.hash] && (
          <Text role="alert" c="var(--mantine-color-error)" size="sm">
            {told[location.hash]}
          </Text>
        )}
        <TextInput label="Login" name="login" autoComplete="username" value={login} onChange={(e) => setLogin(e.currentTarget.value)} required autoFocus={!again} readOnly={again !== undefined} />
        <PasswordInput label="Password" name="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.currentTarget.value)} required autoFocus={again !== undefined} />
        <TextInput label="One-time code" name="code" description="If your account has one" inputMode="numeric" autoComplete="one-time-code" maxLength={8} value={code} onChange={(e) => setCode(e.currentTarget.value)} />
        {refused && (
          <Text role="alert" c="var(--mantine-color-error)" size="sm">
            Login, password or code is wrong, or the account is disabled. Each failure makes the next try wait longer.
          </Text>
        )}
        {error !== null && !refused && <Failure error={error} />}
        <Button type="submit" loading={busy}>
          Sign in
        </Button>
        {again === undefined && singleSignOn && (
          <>
            <Divider label="or" />
            <Anchor href="/v1/session/oidc" ta="center" size="sm">
              Single sign-on
            </Anchor>
          </>
        )}
      </Stack>
    </form>
  );
}
