// The document that is edited, as data: no component, no request. Its values are PHI and stay in the page.
import type { Schemas } from "@/api/client";

type View = Schemas["ClaimView"];
type Finding = Schemas["Finding"];
export type Edit = Schemas["Edit"];
export type RxEdit = Schemas["RxEdit"];

/** An element, a component of one, or a field. */
export interface Cell {
  key: string;
  /** Such as CLM05-3, or D7. */
  code: string;
  name: string;
  value: string;
  /** A number or date as people write it. */
  meaning?: string;
  locked: boolean;
}

/** A segment. */
export interface Seg {
  key: string;
  /** Such as HI, or AM11. */
  code: string;
  title: string;
  loop: string;
  loopName: string;
  locked: boolean;
  cells: Cell[];
  /** Of an X12 segment: its number. Of an NCPDP segment: its place in the message; 0 is the header. */
  number: number;
  /** Of NCPDP. */
  transaction: number;
}

export interface Doc {
  rx: boolean;
  segs: Seg[];
  /** Of an interchange. */
  component: string;
}

/** One thing that a person has changed. */
export type Change =
  | { op: "set"; cell: string; value: string }
  | { op: "delete"; seg: string }
  | { op: "insert"; id: number; after: string; text: string }
  | { op: "field"; id: number; seg: string; field: string; value: string }
  | { op: "drop"; cell: string };

export function docOf(v: View): Doc {
  const rx = v.format === "ncpdp";
  return { rx, component: v.delimiters?.component ?? ":", segs: rx ? v.rx_segments.map(rxSeg) : v.segments.map(x12Seg) };
}

const two = (n: number): string => String(n).padStart(2, "0");

function x12Seg(s: Schemas["Segment"]): Seg {
  const key = String(s.segment);
  const cells: Cell[] = [];
  for (const e of s.elements) {
    const code = `${s.id}${two(e.element)}`;
    if (!e.components?.length) {
      cells.push({ key: cellKey(key, e.element), code, name: e.name ?? "", value: e.value, locked: e.locked || e.cut === true });
      continue;
    }
    const repeats = e.components.some((c) => c.repeat > 1);
    for (const c of e.components) {
      cells.push({
        key: cellKey(key, e.element, c.component, repeats ? c.repeat : 0),
        code: `${code}-${c.component}${repeats ? ` (${c.repeat})` : ""}`,
        name: c.name || e.name || "",
        value: c.value,
        locked: e.locked || e.cut === true,
      });
    }
  }
  return { key, code: s.id, title: s.name ?? "", loop: s.loop ?? "", loopName: s.loop_name ?? "", locked: s.locked, cells, number: s.segment, transaction: 0 };
}

function rxSeg(s: Schemas["RxSegment"]): Seg {
  const key = String(s.segment_number);
  return {
    key,
    code: s.segment ? `AM${s.segment}` : "",
    title: s.name ?? "",
    loop: "",
    loopName: "",
    locked: s.locked,
    number: s.segment_number,
    transaction: s.transaction,
    cells: s.fields.map((f) => ({ key: `${key}.${f.field}.${f.occurrence}`, code: f.field, name: f.name ?? "", value: f.value, meaning: f.meaning, locked: f.locked })),
  };
}

export const cellKey = (seg: string, element: number, component = 0, repeat = 0): string => `${seg}.${element}.${component}.${repeat}`;
export const segOf = (cell: string): string => cell.slice(0, cell.indexOf("."));
export const findCell = (d: Doc, key: string): Cell | undefined => d.segs.find((s) => s.key === segOf(key))?.cells.find((c) => c.key === key);

/** Adds a change to those there are: one for each cell, none where nothing differs, none in a segment that is deleted. */
export function change(d: Doc, all: Change[], c: Change): Change[] {
  switch (c.op) {
    case "set": {
      const rest = all.filter((x) => !((x.op === "set" || x.op === "drop") && x.cell === c.cell));
      return findCell(d, c.cell)?.value === c.value ? rest : [...rest, c];
    }
    case "drop":
      return [...all.filter((x) => !((x.op === "set" || x.op === "drop") && x.cell === c.cell)), c];
    case "delete":
      return [...all.filter((x) => !(((x.op === "set" || x.op === "drop") && segOf(x.cell) === c.seg) || ((x.op === "field" || x.op === "delete") && x.seg === c.seg))), c];
    case "insert":
    case "field": {
      const at = all.findIndex((x) => (x.op === "insert" || x.op === "field") && x.id === c.id);
      return at < 0 ? [...all, c] : all.map((x, i) => (i === at ? c : x));
    }
  }
}

/** Takes a change back. */
export function unchange(all: Change[], gone: Change): Change[] {
  const key = gone.op === "insert" ? `n${gone.id}` : "";
  return all.filter((x) => !same(x, gone) && !(x.op === "field" && key !== "" && x.seg === key));
}

function same(a: Change, b: Change): boolean {
  if (a.op !== b.op) return false;
  switch (a.op) {
    case "set":
    case "drop":
      return a.cell === (b as typeof a).cell;
    case "delete":
      return a.seg === (b as typeof a).seg;
    default:
      return a.id === (b as typeof a).id;
  }
}

export const nextId = (all: Change[]): number => 1 + Math.max(0, ...all.map((x) => (x.op === "insert" || x.op === "field" ? x.id : 0)));

/** A cell as it will be. */
export interface ShownCell extends Cell {
  now: string;
  changed: boolean;
  dropped: boolean;
  /** Added by hand. */
  added?: Change;
  faults: Finding[];
}

/** A segment as it will be, in the order of the document. */
export interface ShownSeg extends Omit<Seg, "cells"> {
  cells: ShownCell[];
  deleted: boolean;
  /** Inserted by hand. */
  inserted?: Extract<Change, { op: "insert" }>;
  faults: Finding[];
  /** What is missing before it, in an interchange; in it, of a pharmacy claim. */
  missing: Finding[];
  /** All that differs from the document as it came: the same text, the same picture. A set has thousands of segments. */
  state: string;
}

/** The document with all changes and all findings at their places; loose are findings without one. */
export function show(d: Doc, all: Change[], findings: Finding[]): { segs: ShownSeg[]; loose: Finding[] } {
  const sets = new Map(all.flatMap((c) => (c.op === "set" ? [[c.cell, c.value] as const] : [])));
  const drops = new Set(all.flatMap((c) => (c.op === "drop" ? [c.cell] : [])));
  const deletes = new Set(all.flatMap((c) => (c.op === "delete" ? [c.seg] : [])));
  const segs: ShownSeg[] = [];
  const addTo = (s: ShownSeg) => {
    for (const c of all) {
      if (c.op === "field" && c.seg === s.key) s.cells.push({ key: `${s.key}.n${c.id}`, code: c.field, name: "", value: "", now: c.value, locked: false, changed: true, dropped: false, added: c, faults: [] });
      if (c.op === "set" && segOf(c.cell) === s.key && !s.cells.some((x) => x.key === c.cell)) {
        const element = Number(c.cell.split(".")[1]);
        s.cells.push({ key: c.cell, code: `${s.code}${two(element)}`, name: "", value: "", now: c.value, locked: false, changed: true, dropped: false, faults: [] });
      }
    }
  };
  const insertsAfter = (key: string, from: Seg) => {
    for (const c of all) {
      if (c.op !== "insert" || c.after !== key) continue;
      const s: ShownSeg = {
        key: `n${c.id}`, code: d.rx ? `AM${c.text}` : c.text.split("*")[0]!, title: "", loop: from.loop, loopName: from.loopName, locked: false, number: 0, transaction: from.transaction,
        cells: [], deleted: false, inserted: c, faults: [], missing: [], state: "",
      };
      addTo(s);
      segs.push(s);
    }
  };
  for (const s of d.segs) {
    const out: ShownSeg = {
      ...s, deleted: deletes.has(s.key), faults: [], missing: [], state: "",
      cells: s.cells.map((c) => ({ ...c, now: sets.get(c.key) ?? c.value, changed: sets.has(c.key), dropped: drops.has(c.key), faults: [] })),
    };
    if (!out.deleted) addTo(out);
    segs.push(out);
    insertsAfter(s.key, s);
  }
  const loose = place(d.rx, segs, findings);
  for (const s of segs) s.state = stateOf(s);
  return { segs, loose };
}

function stateOf(s: ShownSeg): string {
  const said: unknown[] = [];
  if (s.deleted) said.push("deleted");
  if (s.inserted) said.push(s.inserted.text);
  for (const f of s.faults) said.push(f.code, f.element);
  for (const f of s.missing) said.push(f.code, f.field);
  for (const c of s.cells) if (c.changed || c.dropped || c.added || c.faults.length > 0) said.push(c.key, c.now, c.dropped, c.faults.map((f) => f.code));
  return said.length === 0 ? "" : JSON.stringify(said);
}

const absent = (f: Finding): boolean => /^IK3:[A-Z0-9]+:3$/.test(f.code);

/** Puts findings where they belong, and returns those that belong nowhere. Numbers count what is there now. */
function place(rx: boolean, segs: ShownSeg[], findings: Finding[]): Finding[] {
  const there = segs.filter((s) => !s.deleted);
  const loose: Finding[] = [];
  for (const f of findings) {
    const s = rx ? rxHome(there, f) : f.segment_number ? there[f.segment_number - 1] : undefined;
    if (!s) {
      loose.push(f);
      continue;
    }
    if (!rx && absent(f)) {
      s.missing.push(f);
      continue;
    }
    const code = rx ? f.field : f.element && `${s.code}${f.element}`;
    const cell = code ? s.cells.find((c) => c.code === code && !c.dropped) ?? s.cells.find((c) => c.code.startsWith(`${code}-`)) : undefined;
    if (cell) cell.faults.push(f);
    else if (rx && f.field) s.missing.push(f);
    else s.faults.push(f);
  }
  return loose;
}

function rxHome(segs: ShownSeg[], f: Finding): ShownSeg | undefined {
  if (!f.segment && !f.field) return undefined;
  const code = f.segment ? `AM${f.segment}` : "";
  return segs.find((s) => s.code === code && s.transaction === (f.transaction ?? 0)) ?? segs.find((s) => s.code === code);
}

/** The changes as the API takes them. Those that are not finished are left out. */
export function toApi(d: Doc, all: Change[]): { edits: Edit[] } | { rx_edits: RxEdit[] } {
  return d.rx ? { rx_edits: rxEdits(d, all) } : { edits: x12Edits(d, all) };
}

function x12Edits(d: Doc, all: Change[]): Edit[] {
  return all.flatMap((c): Edit[] => {
    if (c.op === "set") {
      if (c.value === "" && !findCell(d, c.cell)) return []; // added, and nothing written yet
      const [segment, element, component, repeat] = c.cell.split(".").map(Number) as [number, number, number, number];
      return [{ op: "set", segment, element, ...(component && { component }), ...(repeat && { repeat }), value: c.value }];
    }
    if (c.op === "delete") return [{ op: "delete", segment: Number(c.seg) }];
    if (c.op === "insert" && finished(d, c)) return [{ op: "insert", segment: Number(c.after), text: c.text }];
    return [];
  });
}

/** Whether what is inserted has something in it beside its name. */
export const finished = (d: Doc, c: Extract<Change, { op: "insert" }>): boolean => (d.rx ? /^[0-9]{2}$/.test(c.text) : /^[A-Z0-9]{2,3}\*.*[^*:^~]/.test(c.text));

/** In an order in which no edit moves the place of another: sets, then fields away from the last, then what is new. */
function rxEdits(d: Doc, all: Change[]): RxEdit[] {
  const seg = (key: string): Pick<RxEdit, "segment" | "transaction"> => {
    const own = d.segs.find((s) => s.key === key);
    if (own) return own.code ? { segment: own.code.slice(2), transaction: own.transaction } : {};
    const made = all.find((c) => c.op === "insert" && `n${c.id}` === key) as Extract<Change, { op: "insert" }> | undefined;
    return { segment: made?.text ?? "", transaction: d.segs.find((s) => s.key === made?.after)?.transaction ?? 1 };
  };
  const at = (cell: string): RxEdit => {
    const [, field, occurrence] = cell.split(".");
    return { op: "set", ...seg(segOf(cell)), field: field!, occurrence: Number(occurrence) };
  };
  const out: RxEdit[] = [];
  const drops: RxEdit[] = [];
  for (const c of all) {
    if (c.op === "set") out.push({ ...at(c.cell), value: c.value });
    if (c.op === "drop") drops.push({ ...at(c.cell), op: "delete" });
  }
  drops.sort((a, b) => b.occurrence! - a.occurrence!);
  out.push(...drops);
  for (const c of all) if (c.op === "delete") out.push({ op: "delete", ...seg(c.seg) });
  for (const c of all) if (c.op === "insert" && finished(d, c)) out.push({ op: "insert", ...seg(`n${c.id}`) });
  for (const c of all) if (c.op === "field" && /^[0-9A-Z]{2}$/.test(c.field) && c.value !== "") out.push({ op: "insert", ...seg(c.seg), field: c.field, value: c.value });
  return out;
}

/** The form of a value, as the server masks it: letters as A, digits as 9. */
export function mask(s: string): string {
  return [...s.slice(0, 80)].map((c) => (/[A-Za-z]/.test(c) ? "A" : /[0-9]/.test(c) ? "9" : /[ \-./,*:^]/.test(c) ? c : "?")).join("");
}

/** A change in words with both values, for the difference that is shown on demand. */
export function differences(d: Doc, all: Change[]): { code: string; name: string; before: string; after: string }[] {
  return all.map((c) => {
    if (c.op === "set" || c.op === "drop") {
      const cell = findCell(d, c.cell);
      const s = d.segs.find((x) => x.key === segOf(c.cell));
      const code = cell?.code ?? `${s?.code ?? ""}${two(Number(c.cell.split(".")[1]))}`;
      return { code, name: cell?.name ?? "", before: cell?.value ?? "", after: c.op === "set" ? c.value : "" };
    }
    if (c.op === "insert") return { code: d.rx ? `AM${c.text}` : c.text.split("*")[0]!, name: "Segment", before: "", after: d.rx ? "" : c.text };
    if (c.op === "field") return { code: c.field, name: "Field", before: "", after: c.value };
    const s = d.segs.find((x) => x.key === c.seg);
    return { code: s?.code ?? "", name: s?.title ?? "Segment", before: s?.cells.map((x) => x.value).join(d.rx ? " " : "*") ?? "", after: "" };
  });
}
