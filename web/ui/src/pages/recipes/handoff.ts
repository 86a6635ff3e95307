import type { Schemas } from "@/api/client";

export type Which = Schemas["WhichMatch"];

/** A recipe that is being made. What it sets may be a value of a claim: it is kept in memory only, and by nobody for longer than its page is open. */
export interface Draft {
  rules: Schemas["Rule"][];
  rx_rules: Schemas["RxRule"][];
  which: Which;
  reason: string;
  /** The claim that it was made from. */
  from?: number;
}

let waiting: Draft | null = null;

/** Gives a draft to the page that is gone to. */
export const give = (d: Draft): void => void (waiting = d);
export const peek = (): Draft | null => waiting;
export const clear = (): void => void (waiting = null);

/** What selects the records that share a record's cause. */
export function whichOf(r: Schemas["Record"]): Which {
  return {
    state: "quarantined",
    stream: r.stream as Which["stream"],
    ...(r.reason_code && { reason: r.reason_code as Which["reason"] }),
    ...(r.error_detail && { detail: r.error_detail }),
    ...(r.partner && { partner: r.partner }),
  };
}
