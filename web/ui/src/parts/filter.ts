import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import type { Schemas } from "@/api/client";
import type { paths } from "@/api/schema";
import { dollars, name } from "./words";

type Asked = NonNullable<paths["/v1/records"]["get"]["parameters"]["query"]>;

/** How records are selected, under the names of the API; it is what stands in the address. It names no patient. */
export type Filter = Omit<Asked, "cursor" | "limit">;
export type Field = keyof Filter;

export const states = ["quarantined", "in_doubt", "parked", "queued", "leased", "submitted", "settled", "withdrawn"];
export const reasons = ["FATAL_SYNTAX", "RETRIES_EXHAUSTED", "SEMANTIC_REJECT", "OUTCOME_UNKNOWN", "OVERFLOW", "EXPIRED"];
export const streams = ["837", "ncpdp", "acks"];
export const formats = ["837p", "837i", "837d", "x12", "ncpdp", "ack", "unreadable"];
export const ages: [string, string][] = [
  ["1h", "an hour"],
  ["4h", "4 hours"],
  ["1d", "a day"],
  ["3d", "3 days"],
  ["7d", "a week"],
  ["30d", "30 days"],
];

/** What queued records may wait for, but for their turn. */
export const holds: [NonNullable<Filter["hold"]>, string][] = [
  ["target", "a target"],
  ["breaker", "a circuit breaker"],
  ["lineage", "an earlier record"],
  ["stopped", "a partner to be started"],
];

const fields: Field[] = ["state", "reason", "detail", "partner", "stream", "format", "older_than", "hold", "rule_version", "amount_min_cents", "amount_max_cents"];

export function parse(search: string): Filter {
  const q = new URLSearchParams(search);
  const out: Record<string, string | number> = {};
  for (const f of fields) {
    const v = q.get(f);
    if (!v) continue;
    if (!f.startsWith("amount_")) out[f] = v;
    else if (/^\d{1,12}$/.test(v)) out[f] = Number(v);
  }
  return out as Filter;
}

/** The query of an address or link. */
export function format(f: Filter): string {
  const q = new URLSearchParams();
  for (const k of fields) {
    const v = f[k];
    if (v !== undefined && v !== "") q.set(k, String(v));
  }
  return q.toString();
}

const unresolved = new Set(["quarantined", "in_doubt", "parked"]);

/** Whether a plan at the server can select the same: it has one state that waits for people, and claims only. */
export const selects = (f: Filter): boolean => f.state !== undefined && unresolved.has(f.state) && f.stream !== "acks" && f.format !== "ack" && !f.hold;

/** What selects the records of one cause. */
export const ofGroup = (g: { state: string; reason_code: string; error_detail: string; partner: string; stream: string }): Filter =>
  parse(format({ state: g.state, reason: g.reason_code, detail: g.error_detail, partner: g.partner, stream: g.stream } as Filter));

/** The filter in words, the most telling first. */
export function describe(f: Filter, meanings: Record<string, string> = {}): string {
  const said = [
    f.state && name(f.state),
    f.detail ? meanings[f.detail] || f.detail : f.reason && name(f.reason),
    f.partner && `partner ${f.partner}`,
    f.stream && !f.partner && name(f.stream),
    f.format && name(f.format),
    f.older_than && `older than ${ages.find(([a]) => a === f.older_than)?.[1] ?? f.older_than}`,
    f.hold && `waits for ${holds.find(([h]) => h === f.hold)?.[1] ?? f.hold}`,
    f.rule_version && `rules ${f.rule_version}`,
    f.amount_min_cents !== undefined && `from ${dollars(f.amount_min_cents)}`,
    f.amount_max_cents !== undefined && `up to ${dollars(f.amount_max_cents)}`,
  ];
  return said.filter(Boolean).join(", ") || "Everything";
}

/** The filter of the address, and how to change it. Other parts of the query stay. */
export function useFilter(): [Filter, (change: Filter) => void] {
  const search = useSearch();
  const [path, go] = useLocation();
  const filter = useMemo(() => parse(search), [search]);
  const change = useCallback(
    (c: Filter) => {
      const q = new URLSearchParams(search);
      for (const k of Object.keys(c) as Field[]) {
        const v = c[k];
        if (v === undefined || v === "") q.delete(k);
        else q.set(k, String(v));
      }
      const s = q.toString();
      go(s ? `${path}?${s}` : path, { replace: true });
    },
    [search, path, go],
  );
  return [filter, change];
}

const counted = ["state", "reason", "detail", "partner", "stream"] as const;
type Counted = (typeof counted)[number];

const of = (g: Schemas["Group"], f: Counted): string => (f === "reason" ? g.reason_code : f === "detail" ? g.error_detail : g[f]);

/** How many records each value of a field has under the rest of the filter. */
export function facet(groups: Schemas["Group"][], filter: Filter, field: Counted): Map<string, number> {
  const out = new Map<string, number>();
  for (const g of groups) {
    if (!counted.every((f) => f === field || !filter[f] || of(g, f) === filter[f])) continue;
    const v = of(g, field);
    if (v) out.set(v, (out.get(v) ?? 0) + g.records);
  }
  return out;
}

export const meaningsOf = (groups: Schemas["Group"][]): Record<string, string> =>
  Object.fromEntries(groups.filter((g) => g.meaning).map((g) => [g.error_detail, g.meaning!]));
