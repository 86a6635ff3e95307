import type { Schemas } from "@/api/client";
import { many } from "@/parts/words";

export type Deadline = Schemas["Deadline"];
type Stage = Deadline["stage"];

/** How far a filing window has gone, the most urgent first. */
export const stages: Record<Stage, { label: string; color: string }> = {
  passed: { label: "Past its last day", color: "red" },
  alert: { label: "90 % gone", color: "red" },
  warning: { label: "80 % gone", color: "orange" },
  in_time: { label: "In time", color: "green" },
  unknown: { label: "No day known", color: "gray" },
};

/** How many days are left, in words. */
export function left(days: number | undefined): string {
  if (days === undefined) return "–";
  if (days === 0) return "today";
  return days > 0 ? `in ${many(days, "day")}` : `${many(-days, "day")} past`;
}

export const closing: Stage[] = ["warning", "alert", "passed"];
/** What can be chosen: what is close, one stage of it, or all. */
export const choices: { value: string; label: string; stages: Stage[] }[] = [
  { value: "", label: "Close to it or past", stages: closing },
  { value: "passed", label: "Past the last day", stages: ["passed"] },
  { value: "alert", label: "90 % gone", stages: ["alert"] },
  { value: "warning", label: "80 % gone", stages: ["warning"] },
  { value: "in_time", label: "In time", stages: ["in_time"] },
  { value: "unknown", label: "No day known", stages: ["unknown"] },
];
