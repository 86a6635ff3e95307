const plus = "{ABCDEFGHI";
const minus = "}JKLMNOPQR";

/** An amount as people write it (12.34) in the form of the pharmacy standard: no point, its sign in the last digit. Null where it is none. */
export function overpunched(s: string): string | null {
  const m = /^(-?)\$?(\d{1,6})(?:\.(\d{1,2}))?$/.exec(s.trim());
  if (!m) return null;
  const digits = `${m[2]}${(m[3] ?? "").padEnd(2, "0")}`.padStart(8, "0");
  return digits.slice(0, -1) + (m[1] ? minus : plus)[Number(digits.at(-1))];
}
