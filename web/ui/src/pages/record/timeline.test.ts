import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { chapters, line } from "./timeline";

const entry = (seq: number, more: Partial<Schemas["Entry"]>): Schemas["Entry"] => ({ seq, at: "2026-11-01T00:00:00Z", actor: "system:attempt", action: "lease", ...more });

describe("timeline", () => {
  it("folds neighbours of one submission into a chapter", () => {
    const sub = { id: 7, state: "answered" } as Schemas["Submission"];
    const got = chapters(
      [entry(1, { action: "receive" }), entry(2, { submission: 7 }), entry(3, { submission: 7, action: "outcome" }), entry(4, { action: "correct", actor: "ana" }), entry(5, { submission: 8 })],
      [sub],
    );
    expect(got.map((c) => c.lines.map((l) => l.seq))).toEqual([[1], [2, 3], [4], [5]]);
    expect(got[1]!.submission).toBe(sub);
    expect(got[3]!.submission).toBeUndefined();
  });

  it("names people and not the system, and moves only where the state changed", () => {
    expect(line(entry(1, { actor: "ana", action: "park", note: "why", from: "quarantined", to: "parked" }))).toMatchObject({ who: "ana", reason: "why", move: "Quarantined → Parked", what: "Parked" });
    const same = line(entry(2, { from: "submitted", to: "submitted", action: "open" }));
    expect(same.who).toBeUndefined();
    expect(same.move).toBeUndefined();
    expect(line(entry(3, { action: "something_new" })).what).toBe("something_new");
  });
});
