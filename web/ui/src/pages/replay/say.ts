import type { Schemas } from "@/api/client";

export type Plan = Schemas["Plan"];
export type Progress = Schemas["Progress"];
export type Policy = Schemas["Policy"];

/** What a record's verdict or result means, in the order in which they are shown. */
export const results: [string, { would: string; did: string; what: string }][] = [
  ["replayed", { would: "would be released", did: "released", what: "Goes out under new control numbers." }],
  ["not_corrected", { would: "not corrected", did: "not corrected", what: "Would fail for the same cause. Correct it first, or plan anew with “Release as they are” if the cause lay outside the claim and is gone." }],
  ["duplicate_suppressed", { would: "settled or under way already", did: "suppressed as duplicates", what: "There is nothing to replay: it is settled, or on its way." }],
  ["in_doubt", { would: "in doubt", did: "kept back, in doubt", what: "May have arrived: ask the payer first." }],
  ["parked", { would: "would be parked", did: "parked", what: "Its replays are used up: a named person decides." }],
  ["moved", { would: "changed since the plan", did: "changed meanwhile", what: "Somebody or something moved it after it was planned: plan anew to take it in." }],
  ["not_found", { would: "not found", did: "not found", what: "There is no such record." }],
  ["failed", { would: "cannot be opened or composed", did: "could not be opened or composed", what: "The log of the server says why." }],
];

/** What became of released records. */
export const ends: [string, string, boolean][] = [
  ["settled", "settled", true],
  ["rejected", "finally rejected by the payer", false],
  ["same_cause", "came back with the same cause", false],
  ["requarantined", "came back with another cause", false],
  ["in_doubt", "in doubt", false],
  ["parked", "came back and parked", false],
  ["withdrawn", "written off", false],
  ["timed_out", "no end seen while watching", false],
];

export const phases: Record<string, { name: string; what: string }> = {
  canary: { name: "Canaries", what: "A few go alone; the rest waits for what becomes of them." },
  ramp: { name: "Ramp", what: "The rate doubles step by step while things go well." },
  watch: { name: "Watch", what: "All had their turn; what becomes of the released ones is still seen." },
};

/** Why a job stopped by itself, and what to do. */
export const stops: Record<string, { why: string; todo: string }> = {
  CANARY: { why: "A canary came back with the cause it was planned with, or all of them came back.", todo: "The cause is not gone. Look at the ones that came back, correct, and plan anew; or resume, which begins with canaries again." },
  SAME_CAUSE: { why: "Too many come back with the same cause.", todo: "The fix did not work for all of them. Look at those that came back before anything else." },
  FAILURES: { why: "Too many come back, whatever the cause, or cannot be composed.", todo: "Look at the causes of those that came back; resume once they are gone." },
  BREAKER_OPEN: { why: "The partner does not answer: its circuit breaker is open.", todo: "Nothing is lost. Resume once the breaker is closed, see Partners." },
  HTTP_429: { why: "The payer asked for less.", todo: "Lower the rate, then resume." },
  RULES: { why: "The validation rules are not those of the plan any more.", todo: "Cancel this one and plan anew, so that what is released was judged by the rules of today." },
  UNAVAILABLE: { why: "The store or the vault could not be used.", todo: "See the log of the server; resume once that is over." },
};

/** When a job was planned: its id begins with it. */
export function plannedAt(id: string): string | null {
  const m = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(id);
  return m ? `${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}Z` : null;
}

export const sum = (m?: Record<string, number>): number => Object.values(m ?? {}).reduce((a, b) => a + b, 0);

/** What one page of the console hands to the next, in the history and not in the address. */
export interface Hand {
  ids?: number[];
  /** Plan at once: somebody pressed the button that says so. */
  plan?: boolean;
  reason?: string;
  /** What was planned, to plan it anew. */
  from?: string;
}

/** Takes what the page before left, once. */
export function takeHand(): Hand {
  const h = (history.state ?? {}) as Hand;
  return typeof h === "object" ? h : {};
}

/** Keeps a reload from doing again what was done once. */
export function dropPlan(): void {
  const h = takeHand();
  if (h.plan) history.replaceState({ ...h, plan: undefined }, "");
}
