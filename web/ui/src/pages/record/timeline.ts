import type { Schemas } from "@/api/client";
import { name } from "@/parts/words";

type Entry = Schemas["Entry"];

/** One line of a record's story. */
export interface Line {
  seq: number;
  at: string;
  /** What happened, in words. */
  what: string;
  /** Who, where it was a person. */
  who?: string;
  reason?: string;
  code?: string;
  meaning?: string;
  /** The move, where the state changed. */
  move?: string;
}

/** Lines of one submission stand together: it was sent, and this came back. */
export interface Chapter {
  submission?: Schemas["Submission"];
  lines: Line[];
}

const verbs: Record<string, string> = {
  receive: "Taken in",
  duplicate: "The same came again, and got the first answer",
  conflict: "The same identity came with other bytes; both are kept",
  enqueue: "Dead-lettered",
  lease: "Taken for delivery, which spends one of the budget",
  intent: "About to be sent",
  outcome: "The delivery ended",
  acknowledge: "The payer answered",
  orphan: "An answer matched nothing that was sent",
  correct: "Corrected",
  replay: "Released for delivery by a person",
  suppress: "A replay was held back by the guard",
  park: "Parked",
  unpark: "Given back",
  withdraw: "Written off",
  resolve: "A person said what became of it",
  reveal: "Opened for a person to see",
  open: "Opened by the system, shown to nobody",
  restart: "Taken back from a process that ended",
  inquire: "The payer was asked",
};

/** Actions whose code says something new; the others repeat the record's. */
const telling = new Set(["enqueue", "outcome", "acknowledge", "orphan", "conflict", "resolve", "suppress", "inquire"]);

export const person = (actor: string): boolean => !actor.startsWith("system:");

export function line(e: Entry): Line {
  const out: Line = { seq: e.seq, at: e.at, what: verbs[e.action] ?? e.action };
  if (e.action === "correct" && e.payload_revision) out.what = `Corrected: revision ${e.payload_revision}`;
  if (e.action === "open" && person(e.actor)) out.what = "Opened to judge a correction or a replay, shown to nobody";
  if (person(e.actor)) out.who = e.actor;
  if (e.note) out.reason = e.note;
  if (telling.has(e.action)) {
    if (e.detail) out.code = e.detail;
    if (e.meaning) out.meaning = e.meaning;
  }
  if (e.to && e.from !== e.to) out.move = e.from ? `${name(e.from)} → ${name(e.to)}` : name(e.to);
  return out;
}

/** Folds a timeline: neighbours that are about one submission become one chapter. */
export function chapters(entries: Entry[], submissions: Schemas["Submission"][]): Chapter[] {
  const known = new Map(submissions.map((s) => [s.id, s]));
  const out: Chapter[] = [];
  let last = 0;
  for (const e of entries) {
    const n = e.submission ?? 0;
    const now = out.at(-1);
    if (now && n === last) now.lines.push(line(e));
    else out.push({ submission: n ? known.get(n) : undefined, lines: [line(e)] });
    last = n;
  }
  return out;
}
