import { Button, Group, Paper, Text } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, etag, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { type Filter, format } from "@/parts/filter";
import { Failure } from "@/parts/Failure";
import { ManyDialog, type One } from "@/parts/ManyDialog";
import { nothing, type Selection } from "@/parts/RecordTable";
import type { RecordList } from "@/parts/useRecordList";
import { count, many, name } from "@/parts/words";

/** More than these are not moved one by one: a replay job does it at the server, in the order of a plan. */
const mostEach = 50;
const mostParked = 1000;
const mostIds = 10_000;
/** What a plan can select by. */
const planned = new Set(["state", "reason", "detail", "partner", "stream", "format", "older_than"]);
const plannable = new Set(["quarantined", "in_doubt", "parked"]);

interface Props {
  list: RecordList;
  filter: Filter;
  selection: Selection;
  onSelect: (s: Selection) => void;
}

/** What can be done with what is selected. */
export function Acts({ list, filter, selection, onSelect }: Props) {
  const { may } = useSession();
  const [, go] = useLocation();
  const [doing, setDoing] = useState<{ what: "replay" | "park"; items: One[] } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState("");
  const n = selection.all ? list.total : selection.ids.size;
  // It is always there, so that selecting moves no line.
  if (n === 0 || (!selection.all && selection.ids.size === 0)) {
    return (
      <Paper withBorder px="sm" py={6} role="region" aria-label="What is selected">
        <Text size="sm" c="dimmed" lh="26px" truncate>
          Nothing is selected. A box or Space selects a record, with Shift a stretch of them, Ctrl+A all that match.
        </Text>
      </Paper>
    );
  }

  const picked = () => list.rows.filter((r) => selection.ids.has(r.id)).map(({ id, revision }) => ({ id, revision }));
  // All that match, read to the end; more than the bound is refused, never cut off.
  const gather = async (most: number): Promise<One[]> => {
    if (!selection.all) return picked();
    const out: One[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await got(api.GET("/v1/records", { params: { query: { ...filter, limit: 1000, ...(cursor ? { cursor } : {}) } } }));
      out.push(...page.records.map(({ id, revision }) => ({ id, revision })));
      if (out.length > most) throw new TooMany(most);
      cursor = page.next_cursor;
      if (!cursor) return out;
    }
  };
  const begin = async (what: string, most: number, f: (items: One[]) => void) => {
    setBusy(what);
    setError(null);
    try {
      f(await gather(most));
    } catch (x) {
      setError(x);
    }
    setBusy("");
  };
  const byFilter = selection.all && Object.keys(filter).every((k) => planned.has(k)) && (!filter.state || plannable.has(filter.state)) && filter.stream !== "acks" && filter.format !== "ack";
  const plan = () => {
    if (byFilter && filter.state) go(`/replays/new?${format(filter)}`);
    else void begin("plan", mostIds, (items) => go("/replays/new", { state: { ids: items.map((x) => x.id) } }));
  };
  return (
    <>
      <Paper withBorder px="sm" py={6} role="region" aria-label="What is selected">
        <Group gap="sm">
          <Text size="sm" fw={600} className="figure" role="status">
            {selection.all ? (n === undefined ? "All that match" : `All ${count(n)} that match`) : `${many(n ?? 0, "record")} selected`}
          </Text>
          {!selection.all && list.cursor !== null && (
            <Button size="compact-sm" variant="subtle" onClick={() => onSelect({ all: true, ids: new Set() })}>
              Select all {list.total === undefined ? "" : count(list.total)} that match
            </Button>
          )}
          {may("replay.run") && !selection.all && selection.ids.size <= mostEach && (
            <Button size="compact-sm" onClick={() => setDoing({ what: "replay", items: picked() })}>
              Replay
            </Button>
          )}
          {may("replay.plan") && (
            <Button size="compact-sm" variant={!selection.all && selection.ids.size <= mostEach ? "default" : "filled"} onClick={plan} loading={busy === "plan"}>
              Plan a replay
            </Button>
          )}
          {may("record.park") && (
            <Button size="compact-sm" variant="default" loading={busy === "park"} onClick={() => void begin("park", mostParked, (items) => setDoing({ what: "park", items }))}>
              Park
            </Button>
          )}
          <Button size="compact-sm" variant="subtle" onClick={() => onSelect(nothing)}>
            Select none
          </Button>
        </Group>
      </Paper>
      {error instanceof TooMany ? (
        <Text size="sm" role="alert" c="var(--mantine-color-error)">
          More than {count(error.most)} match: narrow the filter, or take one cause at a time.
        </Text>
      ) : (
        error !== null && <Failure error={error} />
      )}
      {doing && <Do doing={doing} onMoved={(r) => list.patch([r])} onClose={() => setDoing(null)} />}
    </>
  );
}

class TooMany extends Error {
  constructor(readonly most: number) {
    super("too many");
  }
}

function Do({ doing, onMoved, onClose }: { doing: { what: "replay" | "park"; items: One[] }; onMoved: (r: Schemas["Record"]) => void; onClose: () => void }) {
  const replay = doing.what === "replay";
  return (
    <ManyDialog
      title={replay ? `Replay ${many(doing.items.length, "record")}` : `Park ${many(doing.items.length, "record")}`}
      verb={replay ? "Replay" : "Park"}
      items={doing.items}
      suggestions={replay ? ["The partner is back", "Corrected"] : ["Waits for the partner", "Waits for the provider", "Under investigation"]}
      onClose={onClose}
      run={async (x, reason, key) => {
        const params = { path: { id: x.id }, header: { "Idempotency-Key": key, "If-Match": etag(x.revision) } };
        const m = replay ? await got(api.POST("/v1/records/{id}/replay", { params, body: { reason } })) : await got(api.POST("/v1/records/{id}/park", { params, body: { reason } }));
        onMoved(m.record);
        return replay ? name(m.result || m.record.state) : "Parked";
      }}
    >
      <Text size="sm">
        {replay
          ? "Each is judged and asked about by itself: what is settled, in doubt or not corrected stays where it is."
          : "Parked records are out of reach of replays. To give one back takes a second person."}
      </Text>
    </ManyDialog>
  );
}
