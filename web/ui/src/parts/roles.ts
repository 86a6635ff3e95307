/** What a role is for, in a line; the exact table is the server's. */
export const roles: { value: string; about: string }[] = [
  { value: "viewer", about: "sees records, causes and figures" },
  { value: "operator", about: "runs the streams: parks, asks payers, replays, stops partners, acknowledges alarms" },
  { value: "analyst", about: "opens claims, with a reason, corrects and replays them" },
  { value: "approver", about: "the second person for bulk replays, un-parking and write-offs" },
  { value: "admin", about: "accounts and keys; no claims" },
];

/** Splits what somebody typed as a list: commas, spaces or lines. */
export const listOf = (s: string): string[] => s.split(/[\s,]+/).filter((x) => x !== "");

/** A first password, from the browser's own randomness: 25 letters and figures that cannot be mistaken for others. */
export function newPassword(): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(25)), (b) => letters[b % letters.length]).join("");
}
