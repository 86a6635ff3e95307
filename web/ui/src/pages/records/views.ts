import { useCallback, useState } from "react";

/** A filter under a name. It names no patient: filters hold codes, partners and ages only. */
export interface View {
  name: string;
  query: string;
}

export const builtIn: View[] = [
  { name: "Needs correction", query: "state=quarantined&reason=FATAL_SYNTAX" },
  { name: "Retries exhausted", query: "state=quarantined&reason=RETRIES_EXHAUSTED" },
  { name: "In doubt", query: "state=in_doubt" },
  { name: "Older than a day", query: "state=quarantined&older_than=1d" },
];

/** A value kept in this browser. */
export function useKept<T>(key: string, first: T, good: (v: unknown) => v is T): [T, (v: T) => void] {
  const [value, set] = useState<T>(() => {
    try {
      const v: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
      return good(v) ? v : first;
    } catch {
      return first;
    }
  });
  const keep = useCallback(
    (v: T) => {
      set(v);
      try {
        localStorage.setItem(key, JSON.stringify(v));
      } catch {
        // Nothing can be kept here: it lasts as long as the page.
      }
    },
    [key],
  );
  return [value, keep];
}

export const isViews = (v: unknown): v is View[] =>
  Array.isArray(v) && v.every((x: unknown) => typeof x === "object" && x !== null && typeof (x as View).name === "string" && typeof (x as View).query === "string");

export const isNames = (v: unknown): v is string[] => Array.isArray(v) && v.every((x) => typeof x === "string");
