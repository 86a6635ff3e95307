import { Anchor, Badge, Box, Grid, Group, List, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, background, got, type Schemas } from "@/api/client";
import { useLive } from "@/app/live";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { format, ofGroup } from "@/parts/filter";
import { LoadingLines } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { useAlarms } from "@/parts/useAlarms";
import { count, many, name } from "@/parts/words";
import { Rates } from "./overview/Rates";
import { Reasons } from "./overview/Reasons";

const needs: Record<Schemas["Need"]["what"], { say: (n: number) => string; href: string }> = {
  conservation: { say: (n) => `${many(n, "claim")} unaccounted for: stop intake and look`, href: "/audit" },
  alarms: { say: (n) => `${many(n, "alarm rings", "alarms ring")}`, href: "/alarms" },
  in_doubt: { say: (n) => `${many(n, "submission", "submissions")} in doubt: ask the payer before anything else`, href: "/in-doubt" },
  approvals: { say: (n) => `${many(n, "request waits", "requests wait")} for your second pair of eyes`, href: "/approvals" },
  quarantined: { say: (n) => `${many(n, "record waits", "records wait")} in quarantine`, href: "/groups?state=quarantined" },
  parked: { say: (n) => `${many(n, "record is", "records are")} parked`, href: "/parked" },
};

export default function Overview() {
  const { overview, live } = useLive();
  return (
    <Page title="Overview" about={live ? "As it is now." : overview ? "As it was a moment ago." : undefined}>
      {overview ? <Figures o={overview} /> : <LoadingLines lines={8} />}
    </Page>
  );
}

function Figures({ o }: { o: Schemas["Overview"] }) {
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <NeedsMe needs={o.needs_me} ringing={o.alarms} />
          <Causes />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <States o={o} />
          {o.all && <Rates rates={o.rates} />}
          <Reasons by={o.quarantined_by_reason} />
          <Partners o={o} />
          {o.conservation && <Conservation c={o.conservation} />}
          {o.deliveries && o.deliveries.length > 0 && <Deliveries all={o.deliveries} />}
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function NeedsMe({ needs: list, ringing }: { needs: Schemas["Need"][]; ringing: number }) {
  return (
    <Section title="What needs me">
      {list.length === 0 ? (
        <Empty title="Nothing waits for you" />
      ) : (
        <List listStyleType="none" spacing={6}>
          {list.map((n) => (
            <List.Item key={n.what}>
              <Anchor component={Link} href={needs[n.what].href} fw={n.what === "conservation" || n.what === "alarms" ? 700 : 500}>
                {needs[n.what].say(n.count)}
              </Anchor>
            </List.Item>
          ))}
        </List>
      )}
      {ringing > 0 && <Ringing />}
    </Section>
  );
}

/** The most urgent alarms by what they say: each leads straight to its cause. */
function Ringing() {
  const q = useAlarms();
  const loud = (q.data?.alarms ?? []).filter((a) => !a.silence);
  if (loud.length === 0) return null;
  return (
    <>
      <Text size="xs" c="dimmed" mt="sm">
        What rings, and the way to its cause
      </Text>
      <List size="sm" spacing={8} listStyleType="none" aria-label="What rings">
        {loud.slice(0, 5).map((a) => (
          <List.Item key={a.fingerprint}>
            <Anchor component={Link} href={a.console} size="sm">
              {a.summary}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </>
  );
}

function Causes() {
  const { may } = useSession();
  const q = useQuery({
    queryKey: ["groups", "largest"],
    queryFn: () => got(api.GET("/v1/groups", { params: { query: { state: "quarantined", limit: 8 } }, headers: background })),
    refetchInterval: 10_000,
    enabled: may("groups.read"),
  });
  return (
    <Section
      title="Largest causes in quarantine"
      more={
        <Anchor component={Link} href="/groups" size="sm">
          All causes
        </Anchor>
      }
    >
      <Await query={q}>
        {(g) =>
          g.groups.length === 0 ? (
            <Empty title="Quarantine is empty" />
          ) : (
            <Table verticalSpacing={6} aria-label="Largest causes">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Cause</Table.Th>
                  <Table.Th>Partner</Table.Th>
                  <Table.Th ta="right">Claims</Table.Th>
                  <Table.Th>Oldest</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {g.groups.map((x) => (
                  <Table.Tr key={`${x.reason_code}${x.error_detail}${x.partner}${x.stream}`}>
                    <Table.Td>
                      <Anchor component={Link} href={`/records?${format(ofGroup(x))}`} size="sm">
                        {x.meaning || x.error_detail || name(x.reason_code)}
                      </Anchor>
                      <Text size="xs" c="dimmed" className="mono">
                        {x.error_detail}
                      </Text>
                    </Table.Td>
                    <Table.Td className="mono">{x.partner}</Table.Td>
                    <Table.Td ta="right" className="figure">
                      {count(x.claims)}
                    </Table.Td>
                    <Table.Td>
                      <When t={x.oldest_at} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Await>
    </Section>
  );
}

function States({ o }: { o: Schemas["Overview"] }) {
  const order = ["quarantined", "in_doubt", "parked", "queued", "leased", "submitted", "settled", "withdrawn"];
  return (
    <Section title="Where claims are">
      <SimpleGrid cols={2} spacing="xs">
        {order
          .filter((s) => o.states[s])
          .map((s) => {
            const f = o.states[s]!;
            return (
              <Box key={s} className="figure">
                <Anchor component={Link} href={`/records?state=${s}`} size="sm">
                  {name(s)}
                </Anchor>
                <Text fw={700} size="xl" lh={1.2}>
                  {count(f.claims)}
                </Text>
                <Text size="xs" c="dimmed">
                  {many(f.records, "record")}
                  {f.oldest_at && (
                    <>
                      , oldest <When t={f.oldest_at} />
                    </>
                  )}
                </Text>
              </Box>
            );
          })}
      </SimpleGrid>
    </Section>
  );
}

function Partners({ o }: { o: Schemas["Overview"] }) {
  return (
    <Section
      title="Partners"
      more={
        <Anchor component={Link} href="/switches" size="sm">
          Partners and switches
        </Anchor>
      }
    >
      {o.breakers.length === 0 && o.stopped.length === 0 ? (
        <Text size="sm">Every breaker is closed and nothing is stopped.</Text>
      ) : (
        <Stack gap={6}>
          {o.breakers.map((b) => (
            <Group key={`${b.stream}${b.partner}`} gap="xs">
              <Badge color="orange" variant="light" tt="none" className="badge">
                Breaker {b.state.replace("_", "-")}
              </Badge>
              <Text size="sm" className="mono">
                {b.partner}
              </Text>
              <Text size="sm" c="dimmed">
                since <When t={b.since} />; claims are held and spend no budget
              </Text>
            </Group>
          ))}
          {o.stopped.map((s) => (
            <Group key={`${s.stream}${s.partner}`} gap="xs">
              <Badge color="red" variant="light" tt="none" className="badge">
                Stopped
              </Badge>
              <Text size="sm" className="mono">
                {s.partner || `all of ${name(s.stream)}`}
              </Text>
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}

function Conservation({ c }: { c: Schemas["Conservation"] }) {
  return (
    <Section title="Conservation">
      <Text size="sm" className="figure">
        {many(c.received, "claim")} received, {count(c.accounted)} accounted for.
      </Text>
      <Text size="sm" fw={700} c={c.difference === 0 ? "var(--good)" : "var(--fault)"}>
        {c.difference === 0 ? "None is lost, none is counted twice." : `Difference: ${count(c.difference)}`}
      </Text>
    </Section>
  );
}

function Deliveries({ all }: { all: Schemas["Deliveries"][] }) {
  const rows: [string, keyof Schemas["Deliveries"]][] = [
    ["Deliveries", "deliveries"],
    ["of them retries", "retries"],
    ["Failures", "failures"],
    ["Dead-lettered", "dead_lettered"],
    ["Fell in doubt", "in_doubt"],
    ["Recovered payments", "recovered"],
    ["Codes nobody knows", "unknown_codes"],
  ];
  return (
    <Section title="Since the process began">
      <Table verticalSpacing={4} aria-label="Deliveries since the process began">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Stream</Table.Th>
            {all.map((d) => (
              <Table.Th key={d.stream} ta="right">
                {name(d.stream)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([label, k]) => (
            <Table.Tr key={k}>
              <Table.Th fw={400}>{label}</Table.Th>
              {all.map((d) => (
                <Table.Td key={d.stream} ta="right" className="figure">
                  {count(d[k] as number)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}
