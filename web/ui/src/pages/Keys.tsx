import { Alert, Button, Card, Checkbox, Code, CopyButton, Group, Modal, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { NumberField } from "@/parts/NumberField";
import { Page } from "@/parts/Page";
import { listOf } from "@/parts/roles";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";

export default function Keys() {
  const { may } = useSession();
  const [adding, add] = useState(false);
  const q = useQuery({ queryKey: ["tokens"], queryFn: () => got(api.GET("/v1/tokens")) });
  return (
    <Page title="Keys and tokens" about="Tokens let programs use the API. One can do at most what its owner may, and never open a claim." actions={<Button onClick={() => add(true)}>Make a token</Button>}>
      <Card withBorder component="section" aria-label="API tokens">
        <Title order={2} size="h4" mb="xs">
          {may("users.admin") ? "All API tokens" : "My API tokens"}
        </Title>
        <Await query={q}>{({ tokens }) => (tokens.length === 0 ? <Empty title="There are no tokens" /> : <Tokens all={tokens} />)}</Await>
      </Card>
      <Card withBorder component="section" aria-label="Keys of payloads">
        <Title order={2} size="h4" mb="xs">
          Keys of payloads
        </Title>
        <Text size="sm">
          Every payload is sealed with a key of its own, and that with the keyring. The keyring is rotated and keys are shredded on the machine itself, so that no browser can: <Code>claimdlq keys</Code>
        </Text>
      </Card>
      {adding && <Make onClose={() => add(false)} />}
    </Page>
  );
}

function Tokens({ all }: { all: Schemas["Token"][] }) {
  const { run } = useCommand();
  const [error, setError] = useState<unknown>(null);
  return (
    <>
      {error !== null && <Failure error={error} />}
      <Table.ScrollContainer minWidth={680}>
        <Table aria-label="API tokens">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Owner</Table.Th>
              <Table.Th>May</Table.Th>
              <Table.Th>Partners</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th>Ends</Table.Th>
              <Table.Th>End it</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {all.map((t) => (
              <Table.Tr key={t.id}>
                <Table.Td>{t.name}</Table.Td>
                <Table.Td>{t.owner}</Table.Td>
                <Table.Td className="mono">{t.permissions.join(" ")}</Table.Td>
                <Table.Td className="mono">{t.partners.join(" ")}</Table.Td>
                <Table.Td>
                  <When t={t.last_used} />
                </Table.Td>
                <Table.Td>
                  <When t={t.revoked_at ?? t.expires_at} />
                </Table.Td>
                <Table.Td>
                  {t.revoked_at ? (
                    "ended"
                  ) : (
                    <Button size="compact-sm" variant="default" aria-label={`End token ${t.name}`} onClick={() => void run("The token is ended", () => got(api.DELETE("/v1/tokens/{id}", { params: { path: { id: t.id } } }))).catch(setError)}>
                      End
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

// What never goes into a token: it is for people.
const peopleOnly = /^(payload|users|keys|record\.(correct|resolve|approve)|replay\.approve)/;

function Make({ onClose }: { onClose: () => void }) {
  const { session, may } = useSession();
  const [name, setName] = useState("");
  const [owner, setOwner] = useState("");
  const [days, setDays] = useState(90);
  const [perms, setPerms] = useState<string[]>(["records.read", "groups.read", "metrics.read"]);
  const [partners, setPartners] = useState(session.partners.join(" "));
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const t = await got(api.POST("/v1/tokens", { body: { name, days, permissions: perms, partners: listOf(partners), ...(owner ? { owner } : {}) } }));
      setText(t.text ?? "");
    } catch (x) {
      setError(x);
    }
    setBusy(false);
  };
  const offered = [...new Set([...session.permissions, ...(may("users.admin") ? ["claims.intake", "deadletters.intake", "acks.intake", "replay.plan", "replay.run"] : [])])].filter((p) => !peopleOnly.test(p));
  return (
    <Modal opened onClose={onClose} title="Make a token" size="lg" closeOnClickOutside={text === ""}>
      {text ? (
        <Stack>
          <Alert color="green" variant="light" title="The token">
            <Code block>{text}</Code>
            <CopyButton value={text}>
              {({ copied, copy }) => (
                <Button size="xs" mt="xs" variant="default" onClick={copy}>
                  {copied ? "Copied" : "Copy"}
                </Button>
              )}
            </CopyButton>
            <Text size="sm" mt="xs">
              It is shown this once. Send it as: Authorization: Bearer and the token.
            </Text>
          </Alert>
          <Button onClick={onClose}>Done</Button>
        </Stack>
      ) : (
        <form onSubmit={(e) => void submit(e)}>
          <Stack>
            <TextInput label="Name" description="What it is for" value={name} onChange={(e) => setName(e.currentTarget.value)} maxLength={64} required data-autofocus />
            {may("users.admin") && <TextInput label="Owner" description="A program's account; empty: yours" value={owner} onChange={(e) => setOwner(e.currentTarget.value)} maxLength={64} />}
            <Checkbox.Group label="May" value={perms} onChange={setPerms}>
              <Group gap="sm" mt={4}>
                {offered.map((p) => (
                  <Checkbox key={p} value={p} label={p} />
                ))}
              </Group>
            </Checkbox.Group>
            <TextInput label="Partners" value={partners} onChange={(e) => setPartners(e.currentTarget.value)} className="mono" />
            <NumberField label="Days until it ends" value={days} onChange={(v) => setDays(Number(v) || 90)} min={1} max={366} />
            {error !== null && <Failure error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={busy} disabled={name === "" || perms.length === 0}>
                Make it
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
