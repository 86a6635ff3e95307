import type { Schemas } from "@/api/client";
import { many } from "./words";

/** What became of a file of the payer's answers. */
export function sayAcks(r: Schemas["SettleResult"]): string {
  if (r.duplicate) return "This file was read before: nothing was done.";
  const all = [
    r.accepted && `${many(r.accepted, "claim")} accepted`,
    r.rejected && `${many(r.rejected, "claim")} refused`,
    r.requeued && `${many(r.requeued, "claim")} to be sent again`,
    r.pending && `${many(r.pending, "answer says", "answers say")} no more than that it arrived`,
    r.orphans && `${many(r.orphans, "answer matches", "answers match")} nothing that was sent: kept, and an alarm rings`,
  ].filter(Boolean);
  const failed = r.error ? ` Not all of it could be read: ${r.error}.` : "";
  return `${many(r.answers, "answer")}: ${all.join("; ") || "nothing that changes a claim"}.${failed}`;
}
