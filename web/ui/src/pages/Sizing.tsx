import { Alert, Badge, Button, Card, Collapse, Grid, List, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, got } from "@/api/client";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { LoadingLines } from "@/parts/Loading";
import { NumberField } from "@/parts/NumberField";
import { Page } from "@/parts/Page";
import { count, span } from "@/parts/words";
import { Plot } from "./sizing/Plot";

/** What is used here of the answer of `claimdlq size --json`. Times are milliseconds, null is never. */
interface Answer {
  levers: { name: string; chosen: string; needed: string; enough: boolean; arithmetic: string[] }[];
  incidents: {
    length_ms: number;
    without_breaker: Effect;
    with_breaker: Effect;
    drain: { claims: number; length_ms: number | null };
  }[];
  storage: { arithmetic: string[] };
  survives: string;
  notes?: string[];
  enough: boolean;
}
interface Effect {
  dead_lettered: number;
  failed_calls: number;
  peak_waiting: number;
  alarms: { name: string; after_ms: number | null }[];
}

const levers: Record<string, string> = { max_receive: "Deliveries (max_receive)", backoff: "Back-off", retention: "Retention", depth_alarm: "Depth alarm" };

export default function Sizing() {
  const [f, set] = useState({ rate: "400/s", incidents: "5, 30", turnaround: 8, transient: "0.1%", quota: "", max: 5, base: 2, cap: 60, retention: 14 });
  const [details, show] = useState(false);
  const body = {
    rate: f.rate,
    incident_seconds: f.incidents
      .split(/[,\s]+/)
      .filter(Boolean)
      .map((m) => Number(m) * 60),
    turnaround_seconds: f.turnaround * 3600,
    ...(f.transient ? { transient: f.transient } : {}),
    ...(f.quota ? { quota: f.quota } : {}),
    max_receive: f.max,
    base_seconds: f.base,
    cap_seconds: f.cap,
    retention_days: f.retention,
  };
  const size = useMutation({ mutationFn: async () => (await got(api.POST("/v1/sizing", { body }))) as Answer });
  const num = (k: "turnaround" | "max" | "base" | "cap" | "retention") => ({ value: f[k], onChange: (v: string | number) => set((x) => ({ ...x, [k]: Number(v) || 0 })), min: 0 });
  const txt = (k: "rate" | "incidents" | "transient" | "quota") => ({
    value: f[k],
    onChange: (e: { currentTarget: HTMLInputElement }) => {
      const v = e.currentTarget.value;
      set((x) => ({ ...x, [k]: v }));
    },
  });
  return (
    <Page title="Sizing" about="How the four levers should stand for a stream, what they survive, and which alarm rings first. A simulation with the program's own retry and breaker code checks the figures.">
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Card withBorder component="section" aria-label="The stream">
            <form
              onSubmit={(e: FormEvent) => {
                e.preventDefault();
                size.mutate();
              }}
            >
              <Stack gap="xs">
                <TextInput label="Claims at the busiest time" description="400/s, 24000/min" {...txt("rate")} required data-filter />
                <TextInput label="The payer may be down for (minutes)" description="Several with commas" {...txt("incidents")} required />
                <NumberField label="People find and mend a cause within (hours)" {...num("turnaround")} />
                <Button variant="subtle" size="compact-sm" onClick={() => show(!details)} aria-expanded={details}>
                  {details ? "Fewer" : "More"}
                </Button>
                <Collapse expanded={details}>
                  <Stack gap="xs">
                    <TextInput label="Deliveries that fail by chance" {...txt("transient")} />
                    <TextInput label="Calls the payer takes" placeholder="any number" {...txt("quota")} />
                    <NumberField label="Deliveries in all" {...num("max")} />
                    <NumberField label="Back-off base (s)" {...num("base")} />
                    <NumberField label="Back-off cap (s)" {...num("cap")} />
                    <NumberField label="Retention (days)" {...num("retention")} />
                  </Stack>
                </Collapse>
                <Button type="submit" loading={size.isPending}>
                  Work it out
                </Button>
              </Stack>
            </form>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {size.isPending ? <LoadingLines /> : size.isError ? <Failure error={size.error} /> : size.data ? <Result a={size.data} request={body} /> : <Empty title="Nothing is worked out yet">Say how much comes and how long the payer may be down.</Empty>}
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Result({ a, request }: { a: Answer; request: object }) {
  return (
    <Stack>
      <Alert role="status" color={a.enough ? "green" : "orange"} variant="light" title={a.enough ? "The levers are enough" : "Not every lever is enough"}>
        Survives a {a.survives}.
        {a.notes && (
          <List size="sm" mt={4}>
            {a.notes.map((n) => (
              <List.Item key={n}>{n}</List.Item>
            ))}
          </List>
        )}
      </Alert>
      <Plot request={request} />
      <Card withBorder component="section" aria-label="Levers">
        <Title order={2} size="h4" mb="xs">
          The four levers
        </Title>
        <Table aria-label="Levers" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Lever</Table.Th>
              <Table.Th>Chosen</Table.Th>
              <Table.Th>Needed</Table.Th>
              <Table.Th>Enough</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {a.levers.map((l) => (
              <Table.Tr key={l.name}>
                <Table.Td>
                  {levers[l.name] ?? l.name}
                  <List size="xs" c="dimmed" mt={2}>
                    {l.arithmetic.map((x) => (
                      <List.Item key={x}>{x}</List.Item>
                    ))}
                  </List>
                </Table.Td>
                <Table.Td className="figure">{l.chosen}</Table.Td>
                <Table.Td className="figure">{l.needed}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={l.enough ? "green" : "orange"} className="badge" tt="none">
                    {l.enough ? "yes" : "no"}
                  </Badge>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
      <Card withBorder component="section" aria-label="Incidents">
        <Title order={2} size="h4" mb="xs">
          When the payer is down
        </Title>
        <Table.ScrollContainer minWidth={560}>
          <Table aria-label="Incidents">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>For</Table.Th>
                <Table.Th>Breaker</Table.Th>
                <Table.Th ta="right">Dead-lettered</Table.Th>
                <Table.Th ta="right">Failed calls</Table.Th>
                <Table.Th ta="right">Most waiting</Table.Th>
                <Table.Th>First alarm</Table.Th>
                <Table.Th>Drained in</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {a.incidents.flatMap((i) =>
                (
                  [
                    ["without", i.without_breaker],
                    ["with", i.with_breaker],
                  ] as const
                ).map(([how, e]) => (
                  <Table.Tr key={`${i.length_ms}${how}`} className="figure">
                    <Table.Td>{span(i.length_ms)}</Table.Td>
                    <Table.Td>{how}</Table.Td>
                    <Table.Td ta="right">{count(e.dead_lettered)}</Table.Td>
                    <Table.Td ta="right">{count(e.failed_calls)}</Table.Td>
                    <Table.Td ta="right">{count(e.peak_waiting)}</Table.Td>
                    <Table.Td>{e.alarms[0] && e.alarms[0].after_ms !== null ? `${e.alarms[0].name} after ${span(e.alarms[0].after_ms)}` : "none"}</Table.Td>
                    <Table.Td>{how === "without" && i.drain.length_ms !== null ? span(i.drain.length_ms) : "–"}</Table.Td>
                  </Table.Tr>
                )),
              )}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Card>
      <Card withBorder component="section" aria-label="Disk">
        <Title order={2} size="h4" mb="xs">
          Disk
        </Title>
        <List size="sm">
          {a.storage.arithmetic.map((x) => (
            <List.Item key={x}>{x}</List.Item>
          ))}
        </List>
        <Text size="sm" c="dimmed" mt="xs">
          The same with everything it can be told: <span className="mono">claimdlq size --help</span>
        </Text>
      </Card>
    </Stack>
  );
}
