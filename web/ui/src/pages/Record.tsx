import { Anchor, Grid, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { api, background, got, type Schemas } from "@/api/client";
import { Await } from "@/parts/Await";
import { ReasonBadge, StateBadge } from "@/parts/Badges";
import { type Filter, format, holds } from "@/parts/filter";
import { Page } from "@/parts/Page";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { name, sentence } from "@/parts/words";
import { Faults } from "./claim/Faults";
import { Actions } from "./record/Actions";
import { Family, Figures, Identifiers, sameCause } from "./record/Facts";
import { Acknowledgments, Revisions } from "./record/Story";
import { Timeline } from "./record/Timeline";

/** A record, kept as it is now: nobody asked for the refreshes. */
export function useRecord(id: number) {
  return useQuery({
    queryKey: ["record", id],
    queryFn: () => got(api.GET("/v1/records/{id}", { params: { path: { id } }, headers: background })),
    enabled: id > 0,
    refetchInterval: (q) => (q.state.data && moving(q.state.data.record.state) ? 2_000 : 10_000),
  });
}

const moving = (state: string): boolean => state === "queued" || state === "leased" || state === "submitted";

export default function RecordPage() {
  const id = Number(useParams<{ id: string }>().id);
  const q = useRecord(Number.isSafeInteger(id) ? id : 0);
  return (
    <Page title={`Record ${id}`} crumbs={[{ label: "Records", href: "/records" }]}>
      <Await query={q}>{(d) => <Details d={d} />}</Await>
    </Page>
  );
}

function Details({ d }: { d: Schemas["RecordDetails"] }) {
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <Why d={d} />
          <NextStep d={d} />
          {d.record.state !== "settled" && <Faults id={d.record.id} />}
          <Timeline d={d} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          <Figures d={d} />
          <Revisions d={d} />
          <Acknowledgments d={d} />
          <Family d={d} />
          <Identifiers r={d.record} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function Why({ d }: { d: Schemas["RecordDetails"] }) {
  const r = d.record;
  const over = r.state === "settled" || r.state === "withdrawn";
  const trouble = !over && (r.reason_code || r.error_detail);
  return (
    <Section
      title={over ? "Where it stands" : "Why it is here"}
      more={
        <Group gap={6}>
          <StateBadge state={r.state} />
          <ReasonBadge reason={r.reason_code} />
        </Group>
      }
    >
      <Text fw={600}>{sentence(d.meaning ?? "") || (r.disposition ? name(r.disposition) : name(r.reason_code ?? r.state))}</Text>
      <Text size="sm" c="dimmed">
        {r.error_detail && <span className="mono">{r.error_detail} </span>}
        {r.first_failed_at ? (
          <>
            failed first <When t={r.first_failed_at} />
          </>
        ) : (
          <>
            came in <When t={r.created_at} />
          </>
        )}
        {r.fate_unknown && "; nobody knows what became of what was sent"}
      </Text>
      {trouble && (
        <Anchor size="sm" component={Link} href={sameCause(r)}>
          All records with this cause
        </Anchor>
      )}
    </Section>
  );
}

/** A sentence of the server in which records that it names can be gone to. */
function Linked({ text }: { text: string }) {
  return text.split(/(\brecord \d+)/).map((s, i) =>
    i % 2 === 1 ? (
      <Anchor key={i} component={Link} href={`/records/${s.slice("record ".length)}`} size="sm">
        {s}
      </Anchor>
    ) : (
      s
    ),
  );
}

function NextStep({ d }: { d: Schemas["RecordDetails"] }) {
  const r = d.record;
  const waits = r.state === "queued" ? holds.find(([h]) => h === r.hold)?.[0] : undefined;
  return (
    <Section title={waits ? "What it waits for" : "What happens next"}>
      <Text size="sm" mb={4}>
        <Linked text={d.outlook.replace(", at not_before", "")} />
        {r.not_before && r.state === "queued" && (
          <>
            {" "}
            Next try <When t={r.not_before} />.
          </>
        )}
      </Text>
      {d.limits.parks_at && (
        <Text size="sm" c="dimmed" mb="sm">
          If it is not resolved, it is parked <When t={d.limits.parks_at} />.
        </Text>
      )}
      {waits && (
        <Group gap="md" mb="sm">
          <Anchor component={Link} size="sm" href={`/records?${format({ state: "queued", stream: r.stream as Filter["stream"], partner: r.partner, hold: waits })}`}>
            All of {r.partner || "them"} that wait for it
          </Anchor>
          {(waits === "breaker" || waits === "stopped") && (
            <Anchor component={Link} size="sm" href="/switches">
              Partners
            </Anchor>
          )}
        </Group>
      )}
      <Actions d={d} />
    </Section>
  );
}
