import { Button, Card, Checkbox, Code, Group, Modal, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { NumberField } from "@/parts/NumberField";
import { Once } from "@/parts/Once";
import { Page } from "@/parts/Page";
import { ReasonDialog } from "@/parts/ReasonDialog";
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
      {may("keys.admin") && <Terms />}
      {adding && <Make onClose={() => add(false)} />}
    </Page>
  );
}

const uses: Record<string, string> = { payload: "Payloads: wraps the key of each", identity: "Identities and digests" };

function Terms() {
  const { run } = useCommand();
  const [rotating, rotate] = useState<"payload" | "identity" | null>(null);
  const q = useQuery({ queryKey: ["keys"], queryFn: () => got(api.GET("/v1/keys")) });
  return (
    <Card withBorder component="section" aria-label="Keyring">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Keyring
        </Title>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => rotate("payload")}>
            New payload key
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => rotate("identity")}>
            New identity key
          </Button>
        </Group>
      </Group>
      <Text size="sm" mb="xs">
        Terms, never a key. Back up the keyring apart from the payloads; the key of one payload is shredded at the command line: <Code>claimdlq keys shred</Code>
      </Text>
      <Await query={q} lines={2}>
        {({ keys }) => (
          <Table aria-label="Terms of the keyring">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>For</Table.Th>
                <Table.Th>Term</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Made</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {keys.map((k) => (
                <Table.Tr key={`${k.use}${k.term}`}>
                  <Table.Td>{uses[k.use]}</Table.Td>
                  <Table.Td className="figure">{k.term}</Table.Td>
                  <Table.Td>{k.primary ? "in use" : k.state}</Table.Td>
                  <Table.Td>
                    <When t={k.created_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Await>
      {rotating && (
        <ReasonDialog
          title={rotating === "payload" ? "New payload key" : "New identity key"}
          verb="Make it"
          suggestions={["Yearly rotation", "Somebody left"]}
          onClose={() => rotate(null)}
          onConfirm={(reason) => run("The new key is in use", (key) => got(api.POST("/v1/keys/rotate", { params: { header: { "Idempotency-Key": key } }, body: { use: rotating, reason } })))}
        >
          <Text size="sm">
            {rotating === "payload"
              ? "The key of every payload is wrapped anew under it; payloads themselves are not touched. With many it takes minutes."
              : "New claims are known by it; those of before are still recognised by the terms that were in use then."}
          </Text>
        </ReasonDialog>
      )}
    </Card>
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
                    <Button size="compact-sm" variant="default" aria-label={`End token ${t.name}`} onClick={() => void run("The token is ended", (key) => got(api.DELETE("/v1/tokens/{id}", { params: { path: { id: t.id }, header: { "Idempotency-Key": key } } }))).catch(setError)}>
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
  const { run, busy } = useCommand();
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setError(null);
    try {
      const t = await run("", (key) => got(api.POST("/v1/tokens", { params: { header: { "Idempotency-Key": key } }, body: { name, days, permissions: perms, partners: listOf(partners), ...(owner ? { owner } : {}) } })));
      setText(t.text ?? "");
    } catch (x) {
      setError(x);
    }
  };
  const offered = [...new Set([...session.permissions, ...(may("users.admin") ? ["claims.intake", "deadletters.intake", "acks.intake", "replay.plan", "replay.run"] : [])])].filter((p) => !peopleOnly.test(p));
  return (
    <Modal opened onClose={onClose} title="Make a token" size="lg" closeOnClickOutside={text === ""}>
      {text ? (
        <Once title="The token" secret={text} onClose={onClose}>
          . Send it as: Authorization: Bearer and the token.
        </Once>
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
