import type { Schemas } from "@/api/client";

type Details = Schemas["RecordDetails"];
type Entry = Schemas["Entry"];

/** One revision of what is sent: who made it, and what became of it. */
export interface Revision {
  n: number;
  /** The correction; none for what came in, and for what the timeline no longer holds. */
  made?: Entry;
  /** The submissions that carried it. */
  sent: number[];
  /** refused: by the payer or the rules. */
  fate: "refused" | "sent" | "present" | "replaced";
}

export function revisions(d: Details): Revision[] {
  const last = d.record.payload_revision;
  const refused = d.record.refused_revision ?? 0;
  // That a submission goes out is said of the submission; which revision it carries, of the record.
  const revisionOf = new Map(d.timeline.entries.map((e) => [e.submission, e.payload_revision] as const).filter(([s, n]) => s && n));
  const gone = [...new Set(d.timeline.entries.filter((e) => e.action === "intent").map((e) => e.submission ?? 0))];
  const out: Revision[] = [];
  for (let n = last; n >= 1; n--) {
    const sent = gone.filter((x) => revisionOf.get(x) === n);
    const fate = n === refused ? "refused" : sent.length > 0 ? "sent" : n === last ? "present" : "replaced";
    out.push({ n, made: d.timeline.entries.find((e) => e.action === "correct" && e.payload_revision === n), sent, fate });
  }
  return out;
}

/** What the payer said, the latest first: acknowledgments, and the answers of a pharmacy's payer. */
export const answers = (d: Details): Entry[] =>
  d.timeline.entries.filter((e) => e.action === "acknowledge" || (e.action === "outcome" && e.detail && d.record.stream === "ncpdp")).reverse();
