import { expect, it } from "vitest";
import { choices, left, stages } from "./say";

it("says how many days are left, on the last day and after it", () => {
  expect([left(12), left(1), left(0), left(-1), left(-1200), left(undefined)]).toEqual(["in 12 days", "in 1 day", "today", "1 day past", "1,200 days past", "–"]);
});

it("offers every stage", () => {
  expect(new Set(choices.flatMap((c) => c.stages))).toEqual(new Set(Object.keys(stages)));
});
