import { useCallback, useEffect, useRef, useState } from "react";
import { api, background, got, type Schemas } from "@/api/client";
import { type Filter, format } from "./filter";

type Rec = Schemas["Record"];

/** Lines that were read so far. It is kept as one value, so that a page shows one moment. */
interface Lines {
  key: string;
  rows: Rec[];
  /** Continues the list; null at its end. */
  cursor: string | null;
  total?: number;
  lookedAt: number;
}

export interface RecordList extends Lines {
  /** Whether the first page has come. */
  ready: boolean;
  busy: boolean;
  error: unknown;
  /** How many have come in since; they are shown when somebody asks for them. */
  fresh: number;
  more: () => void;
  reload: () => void;
  /** Takes in how records are now, without moving a line. */
  patch: (records: Rec[]) => void;
}

// The list that was left last: who comes back from a record finds it as it was.
let left: { lines: Lines; at: number } | null = null;
/** Makes lists be read anew: much of them is not as it was. */
export const forgetList = (): void => void (left = null);
const keep = 10 * 60_000;
const firstPage = 100;
const nextPage = 1000;
const poll = 10_000;

const empty = (key: string): Lines => ({ key, rows: [], cursor: "", lookedAt: 0 });

/** Records page by page, the newest first. What comes in meanwhile moves no line: it is counted. */
export function useRecordList(filter: Filter): RecordList {
  const key = format(filter);
  const kept = left && left.lines.key === key && Date.now() - left.at < keep ? left.lines : null;
  const [lines, setLines] = useState<Lines>(() => kept ?? empty(key));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [fresh, setFresh] = useState(0);
  const present = useRef(lines);
  const stop = useRef<AbortController | null>(null);

  const show = useCallback((l: Lines) => {
    present.current = l;
    setLines(l);
  }, []);

  const read = useCallback(
    async (from: Lines) => {
      stop.current?.abort();
      const mine = (stop.current = new AbortController());
      setBusy(true);
      setError(null);
      const first = from.cursor === "";
      try {
        const query = { ...filter, limit: first ? firstPage : nextPage, ...(first ? {} : { cursor: from.cursor! }) };
        const page = await got(api.GET("/v1/records", { params: { query }, signal: mine.signal }));
        if (mine.signal.aborted) return;
        show({
          key: from.key,
          rows: first ? page.records : from.rows.concat(page.records),
          cursor: page.next_cursor ?? null,
          total: page.next_cursor ? (page.total ?? from.total) : (first ? 0 : from.rows.length) + page.records.length,
          lookedAt: from.lookedAt + page.looked_at,
        });
        if (first) setFresh(0);
      } catch (x) {
        if (!mine.signal.aborted) setError(x);
      }
      if (!mine.signal.aborted) setBusy(false);
    },
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [key, show],
  );

  useEffect(() => {
    if (present.current.key !== key || present.current.cursor === "") {
      show(empty(key));
      setFresh(0);
      void read(empty(key));
    }
    return () => {
      stop.current?.abort();
      if (present.current.key === key && present.current.cursor !== "") left = { lines: present.current, at: Date.now() };
    };
  }, [key, read, show]);

  const patch = useCallback(
    (records: Rec[]) => {
      const now = new Map(records.map((r) => [r.id, r]));
      const l = present.current;
      if (!l.rows.some((r) => (now.get(r.id)?.revision ?? 0) > r.revision)) return;
      show({ ...l, rows: l.rows.map((r) => ((now.get(r.id)?.revision ?? 0) > r.revision ? now.get(r.id)! : r)) });
    },
    [show],
  );

  // What the store cannot select by is read record by record: not every few seconds.
  const costly = filter.hold !== undefined || filter.rule_version !== undefined || filter.amount_min_cents !== undefined || filter.amount_max_cents !== undefined;
  useEffect(() => {
    if (costly) return;
    const t = setInterval(() => {
      const l = present.current;
      if (document.hidden || l.key !== key || l.cursor === "") return;
      void got(api.GET("/v1/records", { params: { query: { ...filter, limit: firstPage } }, headers: background }))
        .then((page) => {
          if (present.current !== l) return;
          const newest = l.rows[0]?.id ?? 0;
          setFresh(page.records.filter((r) => r.id > newest).length);
          patch(page.records);
        })
        .catch(() => undefined);
    }, poll);
    return () => clearInterval(t);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, costly, patch]);

  const shown = lines.key === key ? lines : empty(key);
  return {
    ...shown,
    ready: shown.cursor !== "",
    busy,
    error,
    fresh,
    more: useCallback(() => {
      if (present.current.cursor) void read(present.current);
    }, [read]),
    reload: useCallback(() => void read(empty(key)), [read, key]),
    patch,
  };
}
