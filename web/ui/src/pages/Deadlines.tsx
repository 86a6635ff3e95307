import { Anchor, Badge, Button, Group, NativeSelect, Stack, Table, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { StateBadge } from "@/parts/Badges";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { type Filter, useFilter } from "@/parts/filter";
import { FilterBar } from "@/parts/FilterBar";
import { LoadingLines } from "@/parts/Loading";
import { LookForm } from "@/parts/LookForm";
import { Page } from "@/parts/Page";
import { Section } from "@/parts/Section";
import { useGroups } from "@/parts/useGroups";
import { count, dollars, name } from "@/parts/words";
import { Retention } from "./deadlines/Retention";
import { choices, type Deadline, left, stages } from "./deadlines/say";

const open = ["quarantined", "in_doubt", "parked", "queued", "leased", "submitted"];

/** What has to be done by a day: claims whose payer soon takes them no more, and records that are soon parked. */
export default function Deadlines() {
  const [filter, change] = useFilter();
  const groups = useGroups().data?.groups;
  const windows = <Windows filter={filter} />;
  const retention = <Retention filter={filter} />;
  return (
    <Page title="Deadlines" about="What runs out: the days within which a payer takes a claim, and the retention of what nobody resolves.">
      <FilterBar filter={filter} onChange={change} groups={groups} show={["state", "partner", "stream"]} only={open} anyState="Unresolved" />
      {filter.older_than ? (
        <>
          {retention}
          {windows}
        </>
      ) : (
        <>
          {windows}
          {retention}
        </>
      )}
    </Page>
  );
}

type Asked = Omit<Schemas["DeadlinesBody"], "reason" | "limit">;

const asked = (f: Filter, stage: string): Asked => ({
  stages: choices.find((c) => c.value === stage)!.stages,
  ...(f.state && { state: f.state as Asked["state"] }),
  ...(f.stream && { stream: f.stream as Asked["stream"] }),
  ...(f.partner && { partner: f.partner }),
});

/** Records by the end of their filing windows. A last day tells a date of service: it is in this component only, and goes with it. */
function Windows({ filter }: { filter: Filter }) {
  const [reason, setReason] = useState("");
  const [stage, setStage] = useState("");
  const [list, setList] = useState<Schemas["DeadlinePage"] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const turn = useRef(0);
  const of = asked(filter, stage);
  const key = JSON.stringify(of);

  const read = (why: string, after?: number) => got(api.POST("/v1/deadlines", { body: { reason: why, limit: 50, ...of, ...(after ? { after } : {}) } }));
  // Every page is a look of its own, in the audit log for the reason that was given.
  const look = async (after?: number) => {
    const mine = ++turn.current;
    setBusy(true);
    setError(null);
    try {
      const page = await read(reason, after);
      if (mine === turn.current) setList((l) => (after && l ? { ...page, records: [...l.records, ...page.records] } : page));
    } catch (x) {
      if (mine === turn.current) setError(x);
    }
    if (mine === turn.current) setBusy(false);
  };
  const looked = useRef(key);
  useEffect(() => {
    if (reason === "" || looked.current === key) return;
    looked.current = key;
    setList(null);
    void look();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, reason]);

  if (reason === "") {
    return (
      <LookForm
        title="Filing windows: why do you look?"
        verb="Show the last days"
        description="A last day tells a date of service. The reason is in the audit log before anything is opened, with each page. It must name no patient."
        often={["Filing alarm", "Work by the nearest deadline"]}
        refused={
          <Text size="sm">
            Last days tell dates of service, and your role does not look into claims: analysts do.{" "}
            <Anchor component={Link} href={filter.stream ? `/groups?stream=${encodeURIComponent(filter.stream)}` : "/groups"} size="sm">
              All that is unresolved, by cause
            </Anchor>
          </Text>
        }
        onLook={async (why) => {
          looked.current = key;
          setList(await read(why));
          setReason(why);
        }}
      />
    );
  }
  return (
    <Section
      title="Filing windows, the nearest last day first"
      more={
        <Group gap="xs" align="flex-end">
          <NativeSelect size="xs" aria-label="How far gone" value={stage} onChange={(e) => setStage(e.currentTarget.value)} data={choices.map(({ value, label }) => ({ value, label }))} />
          <Button size="xs" variant="default" loading={busy} onClick={() => void look()}>
            Look again
          </Button>
        </Group>
      }
    >
      <Stack gap="xs">
        {error !== null && <Failure error={error} onRetry={() => void look()} />}
        {list === null ? (
          error === null && <LoadingLines lines={6} />
        ) : list.records.length === 0 ? (
          <Empty title={list.windows ? "None is like that" : "No filing window is configured"}>
            {list.windows ? "No unresolved record is that far into its window." : <span className="mono">timely_filing_days</span>}
          </Empty>
        ) : (
          <Lines all={list.records} />
        )}
        {list?.next_after !== undefined && (
          <Group>
            <Button size="compact-sm" variant="default" loading={busy} onClick={() => void look(list.next_after)}>
              The next 50
            </Button>
          </Group>
        )}
        <Text size="xs" c="dimmed">
          {list && `${count(list.records.length)} shown. `}Looked at because “{reason}”: that is in the audit log, once for each page. The days are gone when you leave.
        </Text>
      </Stack>
    </Section>
  );
}

function Lines({ all }: { all: Deadline[] }) {
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table aria-label="Records by their last day" verticalSpacing={5}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Last day</Table.Th>
            <Table.Th>Left</Table.Th>
            <Table.Th>Window</Table.Th>
            <Table.Th>Record</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Cause</Table.Th>
            <Table.Th>Partner</Table.Th>
            <Table.Th ta="right">Charged</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {all.map((d) => (
            <Table.Tr key={d.record.id}>
              <Table.Td className="figure">{d.last_day ?? "–"}</Table.Td>
              <Table.Td className="figure">{left(d.days_left)}</Table.Td>
              <Table.Td>
                <Badge variant="light" color={stages[d.stage].color} className="badge" tt="none">
                  {stages[d.stage].label}
                </Badge>{" "}
                <Text span size="xs" c="dimmed">
                  {count(d.window_days)} d
                </Text>
              </Table.Td>
              <Table.Td className="figure">
                <Anchor component={Link} href={`/records/${d.record.id}`} size="sm">
                  {d.record.id}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <StateBadge state={d.record.state} />
              </Table.Td>
              <Table.Td className="mono">{d.record.error_detail || name(d.record.reason_code ?? "") || "–"}</Table.Td>
              <Table.Td className="mono">{d.record.partner || "–"}</Table.Td>
              <Table.Td ta="right" className="figure">
                {dollars(d.record.amount_cents)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
