import { Alert, Badge, Button, Card, Checkbox, Group, NativeSelect, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, background, got, type Schemas } from "@/api/client";
import { useLive } from "@/app/live";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Page } from "@/parts/Page";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { count, name } from "@/parts/words";

type Stream = "837" | "ncpdp";
type What = { stream: Stream; partner?: string; stop: boolean; unseen?: boolean };

export default function Switches() {
  const { may } = useSession();
  const { overview } = useLive();
  const [asking, ask] = useState<What | null>(null);
  const q = useQuery({ queryKey: ["switches"], queryFn: () => got(api.GET("/v1/switches", { headers: background })), refetchInterval: 5_000 });
  return (
    <Page
      title="Partners"
      about="Who is not delivered to just now, and why. Claims of a partner that is held or stopped stay here and spend no budget."
    >
      <Card withBorder component="section" aria-label="Circuit breakers">
        <Title order={2} size="h4" mb="xs">
          Circuit breakers
        </Title>
        {overview && overview.breakers.length > 0 ? (
          <Table aria-label="Circuit breakers that are not closed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Partner</Table.Th>
                <Table.Th>Stream</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Since</Table.Th>
                <Table.Th>What happens next</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {overview.breakers.map((b) => (
                <Table.Tr key={`${b.stream}${b.partner}`}>
                  <Table.Td className="mono">{b.partner}</Table.Td>
                  <Table.Td>{name(b.stream)}</Table.Td>
                  <Table.Td>
                    <Badge color="orange" variant="light" className="badge" tt="none">
                      {b.state}
                    </Badge>
                  </Table.Td>
                  <Table.Td>
                    <When t={b.since} />
                  </Table.Td>
                  <Table.Td>One claim asks from time to time; when it is answered the others follow.</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        ) : (
          <Text size="sm">All are closed: every partner is delivered to.</Text>
        )}
      </Card>
      <Card withBorder component="section" aria-label="Stopped by people">
        <Group justify="space-between" mb="xs">
          <Title order={2} size="h4">
            Stopped by people
          </Title>
          {may("switches.set") && <StopForm onAsk={ask} />}
        </Group>
        <Await query={q} lines={2}>
          {({ stopped }) =>
            stopped.length === 0 ? (
              <Text size="sm">Nothing is stopped.</Text>
            ) : (
              <Stack gap="xs">
                {stopped.map((s) => (
                  <Alert key={`${s.stream}${s.partner ?? ""}`} color="red" variant="light" title={s.partner ? `${s.partner} (${name(s.stream)})` : `All of ${name(s.stream)}`}>
                    <Group justify="space-between">
                      <Text size="sm">Nothing is delivered. It stays so until somebody starts it, over restarts too.</Text>
                      {may("switches.set") && (
                        <Button size="xs" onClick={() => ask({ stream: s.stream as Stream, partner: s.partner, stop: false })}>
                          Start
                        </Button>
                      )}
                    </Group>
                  </Alert>
                ))}
              </Stack>
            )
          }
        </Await>
      </Card>
      {asking && <Turn what={asking} onClose={() => ask(null)} />}
    </Page>
  );
}

/** What stands in the list for a partner whose name is typed. */
const other = "?";

/**
 * Who is to be stopped: chosen from those that something is unresolved for. Another is typed, and refused by the server
 * where nobody knows the name, unless the box says that no claim of it has come yet.
 */
function StopForm({ onAsk }: { onAsk: (w: What) => void }) {
  const { may } = useSession();
  const [stream, setStream] = useState<Stream>("ncpdp");
  const [chosen, choose] = useState("");
  const [typed, type] = useState("");
  const [unseen, setUnseen] = useState(false);
  const q = useQuery({ queryKey: ["partners"], queryFn: () => got(api.GET("/v1/partners", { params: { query: { limit: 1000 } }, headers: background })), enabled: may("groups.read") });
  const known = (q.data?.partners ?? []).filter((p) => p.stream === stream);
  const typing = chosen === other;
  const partner = typing ? typed : chosen;
  return (
    <Stack gap={6} align="flex-end">
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label="Stream"
          size="xs"
          w={190}
          value={stream}
          onChange={(e) => {
            setStream(e.currentTarget.value as Stream);
            choose("");
          }}
          data={[
            { value: "ncpdp", label: "Pharmacy" },
            { value: "837", label: "Medical and dental" },
          ]}
        />
        <NativeSelect
          label="Partner"
          size="xs"
          w={190}
          value={chosen}
          onChange={(e) => choose(e.currentTarget.value)}
          data={[{ value: "", label: "All of the stream" }, ...known.map((p) => ({ value: p.partner, label: `${p.partner} (${count(p.records)})` })), { value: other, label: "Another …" }]}
        />
        {typing && <TextInput label="Its name" size="xs" w={190} placeholder={stream === "837" ? "ISA07:ISA08, or ISA08" : "BIN:PCN, or BIN"} value={typed} onChange={(e) => type(e.currentTarget.value.trim())} maxLength={64} className="mono" />}
        <Button size="xs" color="red" disabled={typing && typed === ""} onClick={() => onAsk({ stream, ...(partner ? { partner } : {}), stop: true, unseen: typing && unseen })}>
          Stop
        </Button>
      </Group>
      {typing && <Checkbox size="xs" label="No claim of it has come yet: stop it all the same" checked={unseen} onChange={(e) => setUnseen(e.currentTarget.checked)} />}
    </Stack>
  );
}

function Turn({ what, onClose }: { what: What; onClose: () => void }) {
  const { run } = useCommand();
  const whom = what.partner ?? `all of ${name(what.stream)}`;
  return (
    <ReasonDialog
      title={`${what.stop ? "Stop" : "Start"} ${whom}`}
      verb={what.stop ? "Stop" : "Start"}
      danger={what.stop}
      suggestions={what.stop ? ["The payer asked for it", "Wrong answers", "Maintenance window"] : ["The payer is back", "The fault is mended"]}
      onClose={onClose}
      onConfirm={(reason) =>
        run(what.stop ? "It is stopped" : "It goes on", (key) => {
          const params = { path: { stream: what.stream }, header: { "Idempotency-Key": key } };
          const body = { reason, ...(what.partner ? { partner: what.partner } : {}) };
          return got<Schemas["SwitchListBody"]>(
            what.stop ? api.PUT("/v1/switches/{stream}", { params, body: { ...body, ...(what.unseen ? { unseen: true } : {}) } }) : api.DELETE("/v1/switches/{stream}", { params, body }),
          );
        })
      }
    >
      <Text size="sm">
        {what.stop
          ? "At once. What is not with the payer yet stays here and spends no budget; what is being delivered ends first."
          : "What waits is delivered again, the urgent first."}
      </Text>
    </ReasonDialog>
  );
}
