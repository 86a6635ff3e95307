import { Alert, Button, Grid, Group, Text } from "@mantine/core";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, etag, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Beside, type Details, Fact } from "@/parts/Beside";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { type Filter, meaningsOf, useFilter } from "@/parts/filter";
import { FilterBar } from "@/parts/FilterBar";
import { LoadingLines } from "@/parts/Loading";
import { ManyDialog, type One } from "@/parts/ManyDialog";
import { Page } from "@/parts/Page";
import { type Column, nothing, RecordTable, type Selection } from "@/parts/RecordTable";
import { type Approval, live, SecondPerson, useApprovals } from "@/parts/SecondPerson";
import { useGroups } from "@/parts/useGroups";
import { useRecordList } from "@/parts/useRecordList";
import { When } from "@/parts/When";
import { WithdrawRecord } from "@/parts/WithdrawRecord";
import { count, many, name } from "@/parts/words";

type Rec = Schemas["Record"];

/** How many replays a record has before it is parked; each un-park allows one more. */
const cap = 3;

/** Why it is parked, in a few words; the log beside the list says who did it and why. */
function why(r: Rec): string {
  if (r.state !== "parked") return `Now: ${name(r.state)}`;
  if (r.reason_code === "EXPIRED") return "Too long unresolved";
  if (r.error_detail === "KEY_CONFLICT") return "Another file under the same numbers";
  if (r.replay_count >= cap + r.unparked) return "Its replays are used up";
  return "By a person";
}

const extra: Column[] = [{ key: "why", label: "Why it is parked", width: "minmax(150px, 1.4fr)", narrow: true, cell: why }];
const show = ["id", "why", "cause", "partner", "claims", "amount", "replays", "updated"];

export default function Parked() {
  const [, go] = useLocation();
  const { may } = useSession();
  const [given, change] = useFilter();
  const filter = useMemo<Filter>(() => ({ ...given, state: "parked" }), [given]);
  const list = useRecordList(filter);
  const groups = useGroups().data?.groups;
  const parked = useMemo(() => (groups ?? []).filter((g) => g.state === "parked"), [groups]);
  const meanings = useMemo(() => meaningsOf(groups ?? []), [groups]);
  const [selection, select] = useState<Selection>(nothing);
  const [on, setOn] = useState<number | null>(null);
  const [asking, setAsking] = useState<One[] | null>(null);
  useEffect(() => select(nothing), [list.key]);
  const { patch } = list;
  const read = useCallback((r: Rec) => patch([r]), [patch]);
  const picked = selection.all ? list.rows : list.rows.filter((r) => selection.ids.has(r.id));
  return (
    <Page title="Parked" about="Out of reach of replays until a named person gives them back or writes them off. Nothing here is ever removed by itself.">
      <Approved rows={list.rows} onMoved={read} />
      {list.ready && list.rows.length > 0 && (
        <Group justify="space-between" align="flex-end">
          <FilterBar filter={given} onChange={change} groups={parked} show={["reason", "detail", "partner", "stream", "older_than"]} />
          <Group gap="xs">
            {list.fresh > 0 && (
              <Button size="compact-sm" radius="xl" variant="light" onClick={list.reload}>
                {count(list.fresh)} new
              </Button>
            )}
            {may("record.unpark") && picked.length > 1 && (
              <Button size="sm" variant="default" onClick={() => setAsking(picked.filter((r) => r.state === "parked").map(({ id, revision }) => ({ id, revision })))}>
                Ask to give back {count(picked.length)}
              </Button>
            )}
          </Group>
        </Group>
      )}
      {!list.ready && (list.error === null ? <LoadingLines lines={8} /> : <Failure error={list.error} onRetry={list.reload} />)}
      {list.ready && (
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: list.rows.length > 0 ? 7 : 12 }}>
            <RecordTable
              list={list}
              label="Parked"
              show={show}
              extra={extra}
              meanings={meanings}
              selection={may("record.unpark") ? selection : undefined}
              onSelect={may("record.unpark") ? select : undefined}
              onOpen={(r) => go(`/records/${r.id}`)}
              onActive={(r) => setOn(r.id)}
              empty={
                <Empty title={Object.keys(given).length > 0 ? "None is like that" : "Nothing is parked"}>
                  {Object.keys(given).length > 0 ? (
                    <Button size="compact-sm" variant="subtle" onClick={() => go("/parked")}>
                      Show all that are parked
                    </Button>
                  ) : (
                    "Records come here after three replays without success, when they are unresolved for too long, or when a person parks them."
                  )}
                </Empty>
              }
            />
          </Grid.Col>
          {list.rows.length > 0 && (
            <Grid.Col span={{ base: 12, md: 5 }}>
              <Beside id={on} onRead={read}>
                {(d) => <Choice d={d} onMoved={read} />}
              </Beside>
            </Grid.Col>
          )}
        </Grid>
      )}
      {asking && (
        <ManyDialog
          title={`Ask a second person to give back ${many(asking.length, "record")}`}
          verb="Ask"
          items={asking}
          suggestions={["The cause is gone", "Corrected"]}
          onClose={() => setAsking(null)}
          run={async (x, reason, key) => {
            await got(api.POST("/v1/records/{id}/unpark:ask", { params: { path: { id: x.id }, header: { "Idempotency-Key": key, "If-Match": etag(x.revision) } }, body: { reason } }));
            return "Asked";
          }}
        >
          <Text size="sm">Each is a request of its own. What is approved you give back from this page.</Text>
        </ManyDialog>
      )}
    </Page>
  );
}

/** What one asked for and somebody has approved: it waits for one click. */
function Approved({ rows, onMoved }: { rows: Rec[]; onMoved: (r: Rec) => void }) {
  const approvals = useApprovals().data ?? [];
  const [doing, setDoing] = useState<{ items: One[]; by: Map<number, Approval> } | null>(null);
  const given = approvals.filter((a) => a.mine && live(a) && a.state === "given" && a.permission === "record.unpark");
  const by = new Map(given.map((a) => [Number(a.on.replace("RECORD:", "")), a]));
  const here = rows.filter((r) => r.state === "parked" && by.has(r.id)).map(({ id, revision }) => ({ id, revision }));
  if (here.length < 2 && !doing) return null;
  return (
    <Alert color="green" variant="light" title={`${many(here.length, "request")} of yours to give back ${here.length === 1 ? "is" : "are"} approved`} role="status">
      <Button size="compact-sm" onClick={() => setDoing({ items: here, by })}>
        Give them back
      </Button>
      {doing && (
        <ManyDialog
          title={`Give back ${many(doing.items.length, "record")}`}
          verb="Give back"
          noReason
          items={doing.items}
          onClose={() => setDoing(null)}
          run={async (x, _, key) => {
            const a = doing.by.get(x.id)!;
            const m = await got(api.POST("/v1/records/{id}/unpark", { params: { path: { id: x.id }, header: { "Idempotency-Key": key, "If-Match": etag(x.revision) } }, body: { reason: a.reason, approval: a.id } }));
            onMoved(m.record);
            return name(m.record.state);
          }}
        >
          <Text size="sm">Each goes back to where it was, with one more replay allowed, for the reason that was approved.</Text>
        </ManyDialog>
      )}
    </Alert>
  );
}

function Choice({ d, onMoved }: { d: Details; onMoved: (r: Rec) => void }) {
  const r = d.record;
  const may = (a: string) => d.next.some((n) => n.action === a && n.allowed);
  const entry = d.timeline.entries.filter((e) => e.to === "parked").at(-1);
  return (
    <>
      <Group gap="lg" align="flex-start">
        <Fact label="Why it is parked">{r.state === "parked" ? why(r) : "It is not any more"}</Fact>
        {entry && (
          <Fact label="By whom">
            <span className="mono">{entry.actor}</span>, <When t={entry.at} />
            {entry.note ? `: “${entry.note}”` : ""}
          </Fact>
        )}
        <Fact label="Cause">
          {d.meaning || name(r.reason_code ?? "")} <span className="mono">{r.error_detail}</span>
        </Fact>
        <Fact label="Partner">
          <span className="mono">{r.partner || "–"}</span>
        </Fact>
        <Fact label="Replays">
          {count(r.replay_count)} of {count(d.limits.replays)}
          {r.unparked > 0 ? `, given back ${many(r.unparked, "time")}` : ""}
        </Fact>
        <Fact label="Claims">{count(r.claims)}</Fact>
      </Group>
      {r.fate_unknown && (
        <Alert color="orange" variant="light" title="It may have arrived">
          <Text size="sm">It was sent and nobody knows what became of it. Given back, it is in doubt again: ask the payer then.</Text>
        </Alert>
      )}
      <Text size="sm">{d.outlook}</Text>
      {may("unpark") && (
        <SecondPerson
          verb="Give back"
          about={`Record ${r.id} returns to ${r.fate_unknown ? "doubt" : "quarantine"} with one more replay allowed.`}
          permission="record.unpark"
          on={`RECORD:${r.id}`}
          suggestions={["The cause is gone", "Corrected"]}
          ask={(reason, key) => got(api.POST("/v1/records/{id}/unpark:ask", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason } }))}
          act={async (reason, approval, key) =>
            onMoved((await got(api.POST("/v1/records/{id}/unpark", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason, approval } }))).record)
          }
        />
      )}
      {may("withdraw") && <WithdrawRecord r={r} onMoved={onMoved} />}
    </>
  );
}
