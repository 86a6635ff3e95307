// How figures, times and names are said, in one place.

const whole = new Intl.NumberFormat("en-US");
const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const stamp = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export const count = (n: number): string => whole.format(n);
/** Cents as dollars; whole dollars from 1,000 on. */
export const dollars = (cents: number): string => (Math.abs(cents) >= 100_000 ? money : exact).format(cents / 100);
export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;
export const at = (t: string | Date): string => stamp.format(new Date(t));

/** A length of time in its two largest units: 3 d 4 h. */
export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  const units: [number, string][] = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const i = units.findIndex(([u]) => s >= u);
  const [u, name] = units[i]!;
  const next = units[i + 1];
  const rest = next && i < 2 ? Math.floor((s % u) / next[0]) : 0;
  return `${Math.floor(s / u)} ${name}${rest && next ? ` ${rest} ${next[1]}` : ""}`;
}

export const ago = (t: string | Date, now = Date.now()): string => {
  const d = now - new Date(t).getTime();
  return d >= 0 ? `${span(d)} ago` : `in ${span(-d)}`;
};

/** Names of states, reasons and so on as people read them. */
const names: Record<string, string> = {
  queued: "Queued",
  leased: "Being delivered",
  submitted: "With the payer",
  in_doubt: "In doubt",
  quarantined: "Quarantined",
  parked: "Parked",
  settled: "Settled",
  withdrawn: "Withdrawn",
  previewed: "Previewed",
  FATAL_SYNTAX: "Faulty form",
  RETRIES_EXHAUSTED: "Retries exhausted",
  SEMANTIC_REJECT: "Rejected for its content",
  OUTCOME_UNKNOWN: "Outcome unknown",
  OVERFLOW: "Overflow",
  EXPIRED: "Expired",
  "837": "Medical and dental",
  ncpdp: "Pharmacy",
  acks: "Acknowledgments",
  replayed: "Released",
  duplicate_suppressed: "Duplicate suppressed",
  not_corrected: "Not corrected",
  not_found: "Not found",
  moved: "Changed meanwhile",
  failed: "Failed",
  rejected: "Rejected",
  requarantined: "Quarantined again",
  same_cause: "Same cause again",
  timed_out: "Watch timed out",
  "837p": "837P professional",
  "837i": "837I institutional",
  "837d": "837D dental",
  x12: "Other X12",
  ack: "Acknowledgment",
  unreadable: "Unreadable",
  PAID: "Paid",
  ACCEPTED: "Accepted",
  DUPLICATE_OF_PAID: "Duplicate of paid",
  REVERSED: "Reversed",
  REJECTED: "Rejected",
  PROCESSED: "Processed",
  planned: "Planned",
  running: "Running",
  paused: "Paused",
  stopped: "Stopped",
  cancelled: "Cancelled",
  done: "Done",
  asked: "Waits",
  given: "Approved",
  refused: "Refused",
  used: "Approved and done",
};

/** A name in words; what has none is shown as it is. */
export const name = (s: string): string => names[s] ?? s;

/** A meaning with a large first letter. */
export const sentence = (s: string): string => s.charAt(0).toUpperCase() + s.slice(1);
