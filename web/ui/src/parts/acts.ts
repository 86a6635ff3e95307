import type { Schemas } from "@/api/client";

export type Plan = Schemas["ActPlan"];
export type Progress = Schemas["ActProgress"];
export type What = Plan["act"];

interface Words {
  /** What a button says. */
  verb: string;
  /** Of many records, in the list of acts. */
  title: string;
  /** What became of a record, where it was done. */
  done: string;
  permission: string;
  /** What it does, said before it is done. */
  does: string;
  often: string[];
  danger?: boolean;
}

export const acts: Record<What, Words> = {
  park: {
    verb: "Park",
    title: "Park",
    done: "parked",
    permission: "record.park",
    does: "Parked records are out of reach of replays. To give them back takes a second person.",
    often: ["Waits for the partner", "Waits for the provider", "Under investigation"],
  },
  unpark: {
    verb: "Give back",
    title: "Give back",
    done: "given back",
    permission: "record.unpark",
    does: "Each goes back to where it was, with one more replay allowed. It takes two people, once for all of them.",
    often: ["The cause is gone", "Corrected"],
  },
  withdraw: {
    verb: "Write off",
    title: "Write off",
    done: "written off",
    permission: "record.withdraw",
    does: "They are withdrawn for good and can never be sent again. It takes two people, once for all of them.",
    often: ["Sent anew by the provider", "Paid outside", "Past the time to file"],
    danger: true,
  },
  inquire: {
    verb: "Ask the payer",
    title: "Ask the payer",
    done: "asked about",
    permission: "record.inquire",
    does: "It is asked by a status inquiry, or in pharmacy by the identical transmission, which it answers as a duplicate if it has it. A clear answer settles the record, or sends it out again with the same numbers.",
    often: ["The payer is back", "No answer came"],
  },
};

/** What a record's verdict or result means, the good first: what it would be, what it was, its colour. */
export const results: [string, { would: string; did: (w: Words) => string; color: string }][] = [
  ["done", { would: "would be done", did: (w) => w.done, color: "green" }],
  ["known", { would: "", did: () => "answered", color: "green" }],
  ["unknown", { would: "", did: () => "the payer cannot tell", color: "yellow" }],
  ["unanswered", { would: "", did: () => "not answered", color: "orange" }],
  ["refused", { would: "not possible in their state", did: () => "not possible in its state", color: "gray" }],
  ["moved", { would: "", did: () => "changed meanwhile, left alone", color: "gray" }],
  ["not_found", { would: "not found", did: () => "not found", color: "gray" }],
  ["failed", { would: "", did: () => "failed", color: "red" }],
];

export const label = (act: What, result: string): string => results.find(([k]) => k === result)?.[1].did(acts[act]) ?? result;

/** What one can do with an act as it stands. */
export function levers(p: Progress): ("pause" | "resume" | "cancel")[] {
  if (p.state === "running") return ["pause", "cancel"];
  if (p.state === "paused" || p.state === "stopped") return ["resume", "cancel"];
  return p.state === "planned" ? ["cancel"] : [];
}
