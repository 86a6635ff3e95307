import "./recordtable.css";
import { Anchor, Button, Group, Loader, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, type MouseEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import type { RecordList } from "./useRecordList";
import { ago, at, count, dollars, name } from "./words";

type Rec = Schemas["Record"];

export interface Column {
  key: string;
  label: string;
  /** A track of a CSS grid. */
  width: string;
  right?: boolean;
  /** It is also shown where there is little room. */
  narrow?: boolean;
  cell: (r: Rec, meanings: Record<string, string>) => ReactNode;
}

const time = (t?: string) => (t ? <time dateTime={t} title={at(t)}>{ago(t)}</time> : "–");

/** All that a list of records can show. */
export const columns: Column[] = [
  {
    key: "id",
    label: "Record",
    width: "76px",
    narrow: true,
    cell: (r) => (
      <Anchor component={Link} href={`/records/${r.id}`} tabIndex={-1} size="sm" className="figure" onClick={(e: MouseEvent) => e.stopPropagation()}>
        {r.id}
      </Anchor>
    ),
  },
  { key: "key", label: "Key", width: "minmax(150px, 1fr)", cell: (r) => <span className="mono">{r.key}</span> },
  { key: "state", label: "State", width: "128px", narrow: true, cell: (r) => <span className={`state state-${r.state}`}>{name(r.state)}</span> },
  {
    key: "cause",
    label: "Cause",
    width: "minmax(180px, 2.4fr)",
    narrow: true,
    cell: (r, meanings) => (
      <span title={[r.reason_code, r.error_detail].filter(Boolean).join(" ")}>
        {meanings[r.error_detail] || name(r.reason_code ?? r.disposition ?? "")} <span className="mono">{r.error_detail}</span>
      </span>
    ),
  },
  { key: "claims", label: "Claims", width: "64px", right: true, cell: (r) => count(r.claims) },
  { key: "amount", label: "Amount", width: "96px", right: true, cell: (r) => dollars(r.amount_cents) },
  { key: "partner", label: "Partner", width: "minmax(120px, 1fr)", cell: (r) => <span className="mono">{r.partner || "–"}</span> },
  { key: "stream", label: "Stream", width: "150px", cell: (r) => name(r.stream) },
  { key: "format", label: "Format", width: "110px", cell: (r) => name(r.format) },
  { key: "attempts", label: "Attempts", width: "76px", right: true, cell: (r) => count(r.attempt_count) },
  { key: "replays", label: "Replays", width: "70px", right: true, cell: (r) => count(r.replay_count) },
  { key: "age", label: "Failed", width: "108px", narrow: true, cell: (r) => time(r.first_failed_at ?? r.created_at) },
  { key: "updated", label: "Changed", width: "108px", cell: (r) => time(r.updated_at) },
  { key: "rules", label: "Rules", width: "minmax(110px, 0.8fr)", cell: (r) => <span className="mono">{r.rule_version || "–"}</span> },
  { key: "sender", label: "Sender", width: "minmax(110px, 0.8fr)", cell: (r) => <span className="mono">{r.sender || "–"}</span> },
];

/** What is selected: some records, or all that the filter matches. */
export interface Selection {
  all: boolean;
  ids: ReadonlySet<number>;
}
export const nothing: Selection = { all: false, ids: new Set() };

interface Props {
  list: RecordList;
  label: string;
  show: string[];
  extra?: Column[];
  meanings: Record<string, string>;
  selection?: Selection;
  onSelect?: (s: Selection) => void;
  /** Enter on a line; and a click, unless onActive is there. */
  onOpen: (r: Rec) => void;
  /** The line one is on. */
  onActive?: (r: Rec) => void;
  empty: ReactNode;
}

const lineHeight = 34;

/** A long list of records, as a grid: arrows, Page, Home and End move; Enter opens, Space selects, with Shift a stretch. */
export function RecordTable(p: Props) {
  const { list, selection, onSelect } = p;
  const { rows, busy, error, cursor, more } = list;
  const [active, setActive] = useState(0);
  const anchor = useRef(0);
  const box = useRef<HTMLDivElement>(null);
  const narrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const shown = useMemo(() => {
    const all = [...columns, ...(p.extra ?? [])];
    return p.show.map((k) => all.find((c) => c.key === k)).filter((c): c is Column => !!c && (!narrow || !!c.narrow));
  }, [p.show, p.extra, narrow]);
  const template = `${onSelect ? "20px " : ""}${shown.map((c) => c.width).join(" ")}`;
  const hasTail = cursor !== null;
  const v = useVirtualizer({
    count: rows.length + (hasTail ? 1 : 0),
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 15,
    scrollPaddingStart: lineHeight,
    // The line one is on is always there, for aria-activedescendant.
    rangeExtractor: (r) => {
      const seen = defaultRangeExtractor(r);
      return active < r.count && !seen.includes(active) ? [...seen, active].sort((a, b) => a - b) : seen;
    },
  });
  const lines = v.getVirtualItems();
  const last = v.range?.endIndex ?? 0;
  useEffect(() => {
    if (list.ready && hasTail && !busy && error === null && last >= rows.length - 100) more();
  }, [list.ready, hasTail, busy, error, last, rows.length, more]);
  useEffect(() => {
    setActive(0);
    anchor.current = 0;
    box.current?.scrollTo({ top: 0 });
  }, [list.key]);
  // It takes what the window has left below what stands above it.
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    const above = `${Math.round(b.getBoundingClientRect().top + window.scrollY) + 18}px`;
    if (b.style.getPropertyValue("--above") !== above) b.style.setProperty("--above", above);
  });
  const on = rows[active];
  const { onActive } = p;
  useEffect(() => {
    if (on) onActive?.(on);
  }, [on, onActive]);

  const select = useCallback(
    (ids: Set<number>) => onSelect?.({ all: false, ids }),
    [onSelect],
  );
  const stretch = (to: number) => {
    const [a, b] = [Math.min(anchor.current, to), Math.max(anchor.current, to)];
    const ids = new Set(selection?.ids);
    for (let i = a; i <= b; i++) if (rows[i]) ids.add(rows[i]!.id);
    select(ids);
  };
  const toggle = (i: number) => {
    const r = rows[i];
    if (!r) return;
    const ids = new Set(selection?.ids);
    if (!ids.delete(r.id)) ids.add(r.id);
    anchor.current = i;
    select(ids);
  };
  const go = (to: number, extend: boolean) => {
    const i = Math.max(0, Math.min(rows.length - 1, to));
    if (extend && onSelect) stretch(i);
    else anchor.current = i;
    setActive(i);
    v.scrollToIndex(i);
  };
  const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 400) / lineHeight) - 2);
  const keys = (e: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[e.key];
    if (to !== undefined && rows.length > 0) {
      e.preventDefault();
      go(to, e.shiftKey);
    } else if (e.key === "Enter" && on && e.target === box.current) {
      e.preventDefault();
      p.onOpen(on);
    } else if (e.key === " " && onSelect && e.target === box.current) {
      e.preventDefault();
      if (e.shiftKey) stretch(active);
      else toggle(active);
    } else if (e.key === "a" && (e.ctrlKey || e.metaKey) && onSelect) {
      e.preventDefault();
      onSelect({ all: true, ids: new Set() });
    } else if (e.key === "Escape" && selection && (selection.all || selection.ids.size > 0)) onSelect?.(nothing);
  };
  // The handlers of lines stay the same, so that lines are drawn anew only if they change.
  const act = useRef({ toggle, stretch, go, open: p.onOpen, opens: !onActive });
  act.current = { toggle, stretch, go, open: p.onOpen, opens: !onActive };
  const click = useCallback((i: number, r: Rec, e: MouseEvent, box: boolean) => {
    const a = act.current;
    if (e.shiftKey) a.stretch(i);
    else if (box || e.ctrlKey || e.metaKey) a.toggle(i);
    else if (a.opens) {
      a.open(r);
      return;
    }
    setActive(i);
  }, []);

  if (list.ready && rows.length === 0 && !hasTail) return <>{p.empty}</>;
  return (
    <div
      className="grid"
      role="grid"
      aria-label={p.label}
      aria-rowcount={list.total !== undefined ? list.total + 1 : hasTail ? -1 : rows.length + 1}
      aria-colcount={shown.length + (onSelect ? 1 : 0)}
      aria-multiselectable={onSelect ? true : undefined}
      aria-busy={busy}
      aria-activedescendant={on ? `line-${on.id}` : undefined}
      tabIndex={0}
      ref={box}
      onKeyDown={keys}
    >
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className="grid-row grid-head" style={{ gridTemplateColumns: template }}>
          {onSelect && (
            <div role="columnheader" className="grid-cell">
              <input
                type="checkbox"
                tabIndex={-1}
                aria-label="Select all that match"
                checked={!!selection?.all}
                onChange={(e) => onSelect({ all: e.currentTarget.checked, ids: new Set() })}
              />
            </div>
          )}
          {shown.map((c) => (
            <div key={c.key} role="columnheader" className={`grid-cell${c.right ? " grid-right" : ""}`}>
              {c.label}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: v.getTotalSize(), position: "relative" }}>
        {lines.map((l) => {
          const r = rows[l.index];
          if (!r) {
            return (
              <div key="tail" role="row" aria-rowindex={l.index + 2} className="grid-row grid-line" style={{ transform: `translateY(${l.start}px)` }}>
                <div role="gridcell">
                  <Tail list={list} />
                </div>
              </div>
            );
          }
          return (
            <Line
              key={r.id}
              r={r}
              index={l.index}
              start={l.start}
              template={template}
              columns={shown}
              meanings={p.meanings}
              active={l.index === active}
              selectable={!!onSelect}
              selected={!!selection && (selection.all || selection.ids.has(r.id))}
              onClick={click}
            />
          );
        })}
      </div>
    </div>
  );
}

function Tail({ list }: { list: RecordList }) {
  if (list.error !== null) {
    return (
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" c="var(--mantine-color-error)">
          The rest could not be read.
        </Text>
        <Button size="compact-xs" variant="default" onClick={list.rows.length > 0 ? list.more : list.reload}>
          Try again
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="xs" wrap="nowrap">
      <Loader size="xs" aria-hidden />
      <Text size="sm" c="dimmed">
        Reading {list.lookedAt > list.rows.length ? `(${count(list.lookedAt)} looked at)` : ""} …
      </Text>
    </Group>
  );
}

interface LineProps {
  r: Rec;
  index: number;
  start: number;
  template: string;
  columns: Column[];
  meanings: Record<string, string>;
  active: boolean;
  selectable: boolean;
  selected: boolean;
  onClick: (i: number, r: Rec, e: MouseEvent, box: boolean) => void;
}

const Line = memo(function Line({ r, index, start, template, columns: cs, meanings, active, selectable, selected, onClick }: LineProps) {
  return (
    <div
      id={`line-${r.id}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selectable ? selected : undefined}
      className={`grid-row grid-line${active ? " active" : ""}`}
      style={{ transform: `translateY(${start}px)`, gridTemplateColumns: template }}
      onClick={(e) => onClick(index, r, e, false)}
    >
      {selectable && (
        <div role="gridcell" className="grid-cell">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select record ${r.id}`}
            checked={selected}
            readOnly
            onClick={(e) => {
              e.stopPropagation();
              onClick(index, r, e, true);
            }}
          />
        </div>
      )}
      {cs.map((c) => (
        <div key={c.key} role="gridcell" className={`grid-cell${c.right ? " grid-right figure" : ""}`}>
          {c.cell(r, meanings)}
        </div>
      ))}
    </div>
  );
});
