import { expect, it } from "vitest";
import { label, levers, type Progress } from "./acts";

const at = (state: Progress["state"]) => levers({ state } as Progress);

it("has a word for each result, by the act", () => {
  expect([label("park", "done"), label("unpark", "done"), label("inquire", "unknown"), label("park", "new_one")]).toEqual(["parked", "given back", "the payer cannot tell", "new_one"]);
});

it("offers what an act as it stands allows", () => {
  expect(at("planned")).toEqual(["cancel"]);
  expect(at("running")).toEqual(["pause", "cancel"]);
  expect(at("stopped")).toEqual(["resume", "cancel"]);
  expect([at("done"), at("cancelled")]).toEqual([[], []]);
});
