// A recipe made of the edits of one claim: it names segments by what they are, not by their number.
import type { Schemas } from "@/api/client";
import { type Change, type Doc, findCell, finished, segOf } from "./model";

type X12Rule = Schemas["Rule"];
type RxRule = Schemas["RxRule"];

export interface Rules {
  rules: X12Rule[];
  rx_rules: RxRule[];
}

/** Segments whose first element says which of them it is. */
const qualified = new Set(["NM1", "REF", "DTP", "PRV", "PER", "HL", "AMT", "QTY", "NTE", "DMG"]);

export function rulesOf(d: Doc, all: Change[]): Rules {
  return d.rx ? { rules: [], rx_rules: rxRules(d, all) } : { rules: x12Rules(d, all), rx_rules: [] };
}

function x12Rules(d: Doc, all: Change[]): X12Rule[] {
  const base = (key: string): Pick<X12Rule, "segment" | "loop" | "where"> => {
    const s = d.segs.find((x) => x.key === key)!;
    const first = s.cells[0];
    const which = qualified.has(s.code) && first && first.value !== "" ? [{ element: 1, value: first.value }] : [];
    return { segment: s.code, ...(s.loop && { loop: s.loop }), ...(which.length > 0 && { where: which }) };
  };
  return all.flatMap((c): X12Rule[] => {
    if (c.op === "set") {
      const [, element, component] = c.cell.split(".").map(Number) as [number, number, number];
      return [{ ...instead(d, c.cell), ...base(segOf(c.cell)), element, ...(component && { component }), value: c.value }];
    }
    if (c.op === "delete") return [{ op: "delete", ...base(c.seg) }];
    if (c.op === "insert" && finished(d, c)) return [{ op: "insert_after", ...base(c.after), text: c.text }];
    return [];
  });
}

/** What was wrong here is replaced elsewhere only where the same is wrong: other claims may have other values. */
function instead(d: Doc, cell: string): { op: "set" } | { op: "replace"; equals: string } {
  const before = findCell(d, cell)?.value ?? "";
  return before === "" ? { op: "set" } : { op: "replace", equals: before };
}

function rxRules(d: Doc, all: Change[]): RxRule[] {
  const segment = (key: string): Pick<RxRule, "segment"> => {
    const made = all.find((c) => c.op === "insert" && `n${c.id}` === key);
    const code = made && made.op === "insert" ? made.text : (d.segs.find((s) => s.key === key)?.code.slice(2) ?? "");
    return code ? { segment: code } : {};
  };
  return all.flatMap((c): RxRule[] => {
    switch (c.op) {
      case "set":
        return [{ ...instead(d, c.cell), ...segment(segOf(c.cell)), field: c.cell.split(".")[1]!, value: c.value }];
      case "drop":
        return [{ op: "delete", ...segment(segOf(c.cell)), field: findCell(d, c.cell)?.code ?? c.cell.split(".")[1]! }];
      case "delete":
        return [{ op: "delete", ...segment(c.seg) }];
      case "insert":
        return finished(d, c) ? [{ op: "insert", segment: c.text }] : [];
      case "field":
        return c.value === "" ? [] : [{ op: "insert", ...segment(c.seg), field: c.field, value: c.value }];
    }
  });
}
