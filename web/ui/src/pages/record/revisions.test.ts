import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { sayAcks } from "@/parts/acks";
import { answers, revisions } from "./revisions";

const entry = (seq: number, action: string, more: Partial<Schemas["Entry"]> = {}): Schemas["Entry"] => ({ seq, at: "2026-01-01T00:00:00Z", actor: "system:attempt", action, ...more }) as Schemas["Entry"];

const details = (record: object, entries: Schemas["Entry"][]) => ({ record, submissions: [], timeline: { entries, whole: true } }) as unknown as Schemas["RecordDetails"];

describe("revisions", () => {
  it("says who made each, which was sent and which was refused, the present one first", () => {
    const d = details({ payload_revision: 3, refused_revision: 1, stream: "837" }, [
      entry(1, "receive", { payload_revision: 1 }),
      entry(2, "lease", { payload_revision: 1, submission: 7 }),
      entry(3, "intent", { submission: 7 }),
      entry(4, "correct", { payload_revision: 2, actor: "ana", note: "Diagnosis added" }),
      entry(5, "correct", { payload_revision: 3, actor: "bo", note: "Qualifier" }),
    ]);
    expect(revisions(d).map((r) => [r.n, r.made?.actor, r.sent, r.fate])).toEqual([
      [3, "bo", [], "present"],
      [2, "ana", [], "replaced"],
      [1, undefined, [7], "refused"],
    ]);
  });
});

describe("answers", () => {
  const entries = [entry(1, "outcome", { detail: "HTTP_200" }), entry(2, "acknowledge", { detail: "IK5:R" })];
  it("are what the payer said, the latest first; of a transport's outcome only in pharmacy", () => {
    expect(answers(details({ stream: "837" }, entries)).map((e) => e.seq)).toEqual([2]);
    expect(answers(details({ stream: "ncpdp" }, entries)).map((e) => e.seq)).toEqual([2, 1]);
  });
});

describe("a file of acknowledgments", () => {
  const nothing = { file: "", interchanges: 1, answers: 0, duplicate: false, accepted: 0, rejected: 0, requeued: 0, pending: 0, orphans: 0 };
  it("is told in words", () => {
    expect(sayAcks({ ...nothing, answers: 3, accepted: 5, rejected: 1, orphans: 1 })).toBe("3 answers: 5 claims accepted; 1 claim refused; 1 answer matches nothing that was sent: kept, and an alarm rings.");
    expect(sayAcks({ ...nothing, duplicate: true })).toContain("read before");
    expect(sayAcks({ ...nothing, answers: 1 })).toBe("1 answer: nothing that changes a claim.");
  });
});
