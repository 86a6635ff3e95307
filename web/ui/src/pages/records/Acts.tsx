import { Button, Group, Paper, Text } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { type Filter, format, selects } from "@/parts/filter";
import { Failure } from "@/parts/Failure";
import { PlanAct, type Which } from "@/parts/PlanAct";
import { nothing, type Selection } from "@/parts/RecordTable";
import type { RecordList } from "@/parts/useRecordList";
import { count, many } from "@/parts/words";

const mostIds = 10_000;

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
  const [parking, setParking] = useState<{ which: Which; n?: number } | null>(null);
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

  const picked = () => list.rows.filter((r) => selection.ids.has(r.id)).map((r) => r.id);
  // All that match, read to the end; more than the bound is refused, never cut off.
  const gather = async (): Promise<number[]> => {
    if (!selection.all) return picked();
    const out: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await got(api.GET("/v1/records", { params: { query: { ...filter, limit: 1000, ...(cursor ? { cursor } : {}) } } }));
      out.push(...page.records.map((r) => r.id));
      if (out.length > mostIds) throw new TooMany(mostIds);
      cursor = page.next_cursor;
      if (!cursor) return out;
    }
  };
  const begin = async (what: string, f: (ids: number[]) => void) => {
    setBusy(what);
    setError(null);
    try {
      f(await gather());
    } catch (x) {
      setError(x);
    }
    setBusy("");
  };
  const byFilter = selection.all && selects(filter);
  const plan = () => {
    if (byFilter) go(`/replays/new?${format(filter)}`);
    else void begin("plan", (ids) => go("/replays/new", { state: { ids } }));
  };
  const park = () => {
    if (byFilter) setParking({ which: { filter: filter as Schemas["WhichMatch"] }, n });
    else void begin("park", (ids) => setParking({ which: { ids } }));
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
          {may("replay.plan") && (
            <Button size="compact-sm" onClick={plan} loading={busy === "plan"}>
              Plan a replay
            </Button>
          )}
          {may("record.park") && (
            <Button size="compact-sm" variant="default" loading={busy === "park"} onClick={park}>
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
      {parking && <PlanAct act="park" {...parking} onClose={() => setParking(null)} />}
    </>
  );
}

class TooMany extends Error {
  constructor(readonly most: number) {
    super("too many");
  }
}
