import { Button, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { NumberField } from "@/parts/NumberField";
import { ages, facet, type Field, type Filter, formats, holds, meaningsOf, reasons, states, streams } from "./filter";
import { Popup } from "./Popup";
import { count, name } from "./words";

type Select = "state" | "reason" | "detail" | "partner" | "stream" | "older_than";

const labels: Record<Select, string> = {
  state: "State",
  reason: "Reason",
  detail: "Cause",
  partner: "Partner",
  stream: "Stream",
  older_than: "Age",
};

const widths: Record<Select, number> = { state: 145, reason: 155, detail: 190, partner: 150, stream: 130, older_than: 110 };

interface Props {
  filter: Filter;
  onChange: (change: Filter) => void;
  show: Select[];
  /** Unresolved records by cause: the choices and their counts come from them. */
  groups?: Schemas["Group"][];
  /** What no state stands for. */
  anyState?: string;
  /** The only states to choose from. Default: all. */
  only?: string[];
  /** Also format, rule version and amounts. */
  more?: boolean;
  children?: ReactNode;
}

/** The filters of a list, each with how many there are. "/" goes to the first. */
export function FilterBar({ filter, onChange, show, groups = [], anyState, only = states, more, children }: Props) {
  const set = Object.keys(filter).length > 0;
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label="Filters">
      {show.map((f, i) => (
        <NativeSelect
          key={f}
          label={labels[f]}
          size="xs"
          w={widths[f]}
          value={filter[f] ?? ""}
          onChange={(e) => onChange({ [f]: e.currentTarget.value || undefined } as Filter)}
          data={[{ value: "", label: (f === "state" && anyState) || "Any" }, ...choices(f, filter, groups, only)]}
          {...(i === 0 ? { "data-filter": true } : {})}
        />
      ))}
      {more && <More filter={filter} onChange={onChange} />}
      {set && (
        <Button size="xs" variant="subtle" onClick={() => onChange(Object.fromEntries((Object.keys(filter) as Field[]).map((k) => [k, undefined])) as Filter)}>
          Clear
        </Button>
      )}
      {children}
    </Group>
  );
}

function choices(f: Select, filter: Filter, groups: Schemas["Group"][], only: string[]): { value: string; label: string }[] {
  if (f === "older_than") {
    const given = filter.older_than;
    const all = given && !ages.some(([a]) => a === given) ? [[given, given] as [string, string], ...ages] : ages;
    return all.map(([value, words]) => ({ value, label: `Over ${words}` }));
  }
  const n = facet(groups, filter, f);
  const said = (v: string, label: string) => ({ value: v, label: n.has(v) ? `${label} (${count(n.get(v)!)})` : label });
  if (f === "state") return only.map((v) => said(v, name(v)));
  if (f === "reason") return reasons.map((v) => said(v, name(v)));
  if (f === "stream") return streams.map((v) => said(v, name(v)));
  const meanings = f === "detail" ? meaningsOf(groups) : {};
  const values = [...n.keys()].sort((a, b) => n.get(b)! - n.get(a)!);
  if (filter[f] && !n.has(filter[f])) values.unshift(filter[f]);
  return values.map((v) => said(v, meanings[v] ? `${v}: ${meanings[v]}` : v));
}

/** Only what is queued waits for something: the state goes with it. */
const waits = (filter: Filter, hold: string): Filter => (hold ? { hold: hold as Filter["hold"], state: "queued" } : filter.hold ? { hold: undefined } : {});

/** Filters that are seldom needed. Rule version and amounts the server has to look for record by record. */
function More({ filter, onChange }: { filter: Filter; onChange: (change: Filter) => void }) {
  const n = [filter.format, filter.hold, filter.rule_version, filter.amount_min_cents, filter.amount_max_cents].filter((x) => x !== undefined).length;
  return (
    <Popup
      label="More filters"
      button={
        <Button size="xs" variant="default" leftSection={<IconAdjustments size={14} aria-hidden />}>
          More{n > 0 ? ` (${n})` : ""}
        </Button>
      }
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const d = new FormData(e.currentTarget);
          const cents = (k: string) => {
            const v = Number(String(d.get(k) ?? "").replace(/[^0-9.]/g, ""));
            return v > 0 ? Math.round(v * 100) : undefined;
          };
          const rules = String(d.get("rule_version") ?? "").trim();
          onChange({ format: (String(d.get("format") ?? "") || undefined) as Filter["format"], ...waits(filter, String(d.get("hold") ?? "")), rule_version: rules || undefined, amount_min_cents: cents("min"), amount_max_cents: cents("max") });
        }}
      >
        <Stack gap="xs" w={260} p={8}>
          <NativeSelect size="xs" name="format" label="Format" defaultValue={filter.format ?? ""} data={[{ value: "", label: "Any" }, ...formats.map((value) => ({ value, label: name(value) }))]} />
          <NativeSelect size="xs" name="hold" label="Queued, and waits for" defaultValue={filter.hold ?? ""} data={[{ value: "", label: "Anything" }, ...holds.map(([value, words]) => ({ value, label: words }))]} />
          <TextInput size="xs" name="rule_version" label="Judged by the rules" description="Their version" defaultValue={filter.rule_version ?? ""} maxLength={64} />
          <Group gap="xs" grow>
            <NumberField size="xs" name="min" label="Amount from" leftSection="$" min={0} defaultValue={filter.amount_min_cents === undefined ? "" : filter.amount_min_cents / 100} />
            <NumberField size="xs" name="max" label="up to" leftSection="$" min={0} defaultValue={filter.amount_max_cents === undefined ? "" : filter.amount_max_cents / 100} />
          </Group>
          <Button size="xs" type="submit" data-closes>
            Apply
          </Button>
        </Stack>
      </form>
    </Popup>
  );
}
