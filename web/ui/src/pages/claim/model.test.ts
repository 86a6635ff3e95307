import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { begin, redo, step, undo } from "./history";
import { change, type Change, differences, docOf, mask, nextId, show, toApi, unchange } from "./model";
import { rulesOf } from "./recipe";

type View = Schemas["ClaimView"];
type Finding = Schemas["Finding"];

const seg = (segment: number, id: string, values: (string | string[])[], more: Partial<Schemas["Segment"]> = {}): Schemas["Segment"] => ({
  segment,
  id,
  offset: 0,
  locked: false,
  loop: "2300",
  elements: values.map((v, i) => ({
    element: i + 1,
    locked: false,
    value: Array.isArray(v) ? v.join(":") : v,
    ...(Array.isArray(v) && { components: v.map((value, k) => ({ repeat: 1, component: k + 1, value })) }),
  })),
  ...more,
});

const view = (over: Partial<View>): View => ({
  record: 1, revision: 1, payload_revision: 1, format: "837p", readable: true, bytes: 1, total: 0, findings: [], segments: [], rx_segments: [],
  delimiters: { element: "*", component: ":", repetition: "^", segment: "~" }, ...over,
});

const medical = docOf(view({ segments: [seg(1, "ISA", ["00"], { locked: true, loop: "" }), seg(2, "CLM", ["TEST1", "20", "", "", ["11", "B", "1"]]), seg(3, "REF", ["D9", "1"]), seg(4, "LX", ["1"])] }));

const field = (field: string, value: string, occurrence = 1): Schemas["NcpdpEntry"] => ({ field, value, occurrence, offset: 0, locked: false });
const rx = docOf(
  view({
    format: "ncpdp",
    rx_segments: [
      { segment_number: 0, segment: "", transaction: 0, offset: 0, locked: true, fields: [field("A1", "999999")] },
      { segment_number: 1, segment: "07", transaction: 1, offset: 0, locked: true, fields: [field("D7", "1")] },
      { segment_number: 2, segment: "11", transaction: 1, offset: 0, locked: false, fields: [field("D9", "12.34"), field("H7", "a"), field("H7", "b", 2)] },
    ],
  }),
);

const missingHI: Finding = { code: "IK3:HI:3", segment: "HI", segment_number: 4 };

describe("changes", () => {
  it("are one for each cell, and none where nothing differs", () => {
    let all: Change[] = change(medical, [], { op: "set", cell: "2.2.0.0", value: "2" });
    all = change(medical, all, { op: "set", cell: "2.2.0.0", value: "21" });
    expect(all).toEqual([{ op: "set", cell: "2.2.0.0", value: "21" }]);
    expect(change(medical, all, { op: "set", cell: "2.2.0.0", value: "20" })).toEqual([]);
  });

  it("in a segment that is deleted go with it", () => {
    const all = change(medical, [{ op: "set", cell: "3.2.0.0", value: "x" }, { op: "set", cell: "2.2.0.0", value: "y" }], { op: "delete", seg: "3" });
    expect(toApi(medical, all)).toEqual({ edits: [{ op: "set", segment: 2, element: 2, value: "y" }, { op: "delete", segment: 3 }] });
    expect(unchange(all, { op: "delete", seg: "3" })).toHaveLength(1);
  });

  it("that are not finished are not sent", () => {
    const all: Change[] = [
      { op: "insert", id: 1, after: "3", text: "HI*ABK:" },
      { op: "set", cell: "3.3.0.0", value: "" },
    ];
    // HI*ABK: has a qualifier; the rules say what it lacks.
    expect(toApi(medical, all)).toEqual({ edits: [{ op: "insert", segment: 3, text: "HI*ABK:" }] });
    expect(toApi(medical, [{ op: "insert", id: 1, after: "3", text: "HI*" }])).toEqual({ edits: [] });
  });

  it("of a component name it", () => {
    const all = change(medical, [], { op: "set", cell: "2.5.3.0", value: "7" });
    expect(toApi(medical, all)).toEqual({ edits: [{ op: "set", segment: 2, element: 5, component: 3, value: "7" }] });
  });

  it("of a pharmacy claim come in an order in which no place moves", () => {
    let all: Change[] = [];
    all = change(rx, all, { op: "field", id: nextId(all), seg: "2", field: "DU", value: "0000001{" });
    all = change(rx, all, { op: "drop", cell: "2.H7.1" });
    all = change(rx, all, { op: "drop", cell: "2.H7.2" });
    all = change(rx, all, { op: "set", cell: "2.D9.1", value: "0001234{" });
    all = change(rx, all, { op: "set", cell: "0.A1.1", value: "888888" });
    expect(toApi(rx, all)).toEqual({
      rx_edits: [
        { op: "set", segment: "11", transaction: 1, field: "D9", occurrence: 1, value: "0001234{" },
        { op: "set", field: "A1", occurrence: 1, value: "888888" },
        { op: "delete", segment: "11", transaction: 1, field: "H7", occurrence: 2 },
        { op: "delete", segment: "11", transaction: 1, field: "H7", occurrence: 1 },
        { op: "insert", segment: "11", transaction: 1, field: "DU", value: "0000001{" },
      ],
    });
  });
});

describe("what is shown", () => {
  it("has what is missing before the segment that stands in its place", () => {
    const { segs, loose } = show(medical, [], [missingHI, { code: "RULE:X" }]);
    expect(segs[3]!.missing).toEqual([missingHI]);
    expect(loose).toEqual([{ code: "RULE:X" }]);
  });

  it("counts segments as they are now", () => {
    const all: Change[] = [
      { op: "insert", id: 1, after: "2", text: "HI*ABK:TEST" },
      { op: "delete", seg: "3" },
    ];
    const f: Finding = { code: "IK4:HI01-2:7", segment: "HI", segment_number: 3 };
    const { segs } = show(medical, all, [f, { code: "IK4:LX01:7", segment: "LX", element: "01", segment_number: 4 }]);
    expect(segs.map((s) => s.key)).toEqual(["1", "2", "n1", "3", "4"]);
    expect(segs[2]!.faults).toEqual([f]);
    expect(segs[3]!.deleted).toBe(true);
    expect(segs[4]!.cells[0]!.faults).toHaveLength(1);
  });

  it("places a pharmacy fault at its field, or says that the field is missing", () => {
    const { segs } = show(rx, [], [
      { code: "NCPDP:11-D9:MONEY", transaction: 1, segment: "11", field: "D9" },
      { code: "NCPDP:11-DU:MISSING", transaction: 1, segment: "11", field: "DU" },
    ]);
    expect(segs[2]!.cells[0]!.faults).toHaveLength(1);
    expect(segs[2]!.missing).toHaveLength(1);
  });
});

describe("masking", () => {
  it("keeps the form and no value", () => {
    expect(mask("TEST-12.5 {é}")).toBe("AAAA-99.9 ???");
    expect(mask("x".repeat(100))).toHaveLength(80);
  });
  it("is not what differences have: they are for who asks", () => {
    expect(differences(rx, [{ op: "set", cell: "2.D9.1", value: "1{" }])).toEqual([{ code: "D9", name: "", before: "12.34", after: "1{" }]);
  });
});

describe("undo and redo", () => {
  it("take typing in one cell as one step", () => {
    let h = begin<string[]>([]);
    h = step(h, ["a"], "set 1");
    h = step(h, ["ab"], "set 1");
    h = step(h, ["ab", "c"], "set 2");
    expect(undo(h).now).toEqual(["ab"]);
    expect(undo(undo(h)).now).toEqual([]);
    expect(redo(undo(h)).now).toEqual(["ab", "c"]);
    expect(undo(undo(undo(h))).now).toEqual([]);
    expect(step(undo(h), ["x"], "").future).toEqual([]);
  });
});

describe("a recipe of the edits", () => {
  it("names segments by loop and by what says which of them it is", () => {
    expect(
      rulesOf(medical, [
        { op: "insert", id: 1, after: "3", text: "HI*ABK:TEST" },
        { op: "set", cell: "2.5.3.0", value: "7" },
        { op: "delete", seg: "3" },
      ]).rules,
    ).toEqual([
      { op: "insert_after", segment: "REF", loop: "2300", where: [{ element: 1, value: "D9" }], text: "HI*ABK:TEST" },
      { op: "replace", equals: "1", segment: "CLM", loop: "2300", element: 5, component: 3, value: "7" },
      { op: "delete", segment: "REF", loop: "2300", where: [{ element: 1, value: "D9" }] },
    ]);
  });
  it("of a pharmacy claim names segments and fields", () => {
    expect(rulesOf(rx, [{ op: "set", cell: "2.D9.1", value: "1{" }, { op: "set", cell: "0.A1.1", value: "1" }]).rx_rules).toEqual([
      { op: "replace", equals: "12.34", segment: "11", field: "D9", value: "1{" },
      { op: "replace", equals: "999999", field: "A1", value: "1" },
    ]);
  });
});
