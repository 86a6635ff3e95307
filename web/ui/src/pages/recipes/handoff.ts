import type { Schemas } from "@/api/client";
import type { Rules } from "../claim/recipe";

/** What a claim's editor gives to the recipe page: values of a claim, so it is kept in memory only, and taken once. */
export interface Handoff {
  rules: Rules;
  /** The record that was corrected by hand. */
  record: Schemas["Record"];
  reason: string;
}

let waiting: Handoff | null = null;

export const give = (h: Handoff): void => void (waiting = h);
export function take(): Handoff | null {
  const h = waiting;
  waiting = null;
  return h;
}
