import { describe, expect, it } from "vitest";
import { complete, completeRx, sayRecipe, sayRule, sayRxRule } from "./say";
import { clear, give, peek } from "./handoff";

describe("rules in words", () => {
  it("name the place and no value", () => {
    expect(sayRule({ op: "insert_after", segment: "REF", loop: "2300", where: [{ element: 1, value: "D9" }], text: "HI*ABK:TESTVALUE" })).toBe("Insert a segment behind REF of loop 2300 where 01 is D9");
    expect(sayRule({ op: "replace", segment: "CLM", element: 5, component: 3, equals: "TESTVALUE", value: "TESTVALUE" })).toBe("Replace a value of CLM05-3 in CLM");
    expect(sayRxRule({ op: "set", segment: "11", field: "D9", value: "TESTVALUE" })).toBe("Set D9 in segment AM11");
    expect(sayRecipe({ rules: [{ op: "delete", segment: "PWK", loop: "2300" }], rx_rules: [{ op: "delete", segment: "13" }] })).toBe("Delete PWK of loop 2300; Delete segment AM13");
  });
  it("are complete when they can be tried", () => {
    expect(complete({ op: "set", segment: "NM1" })).toBe(false);
    expect(complete({ op: "set", segment: "NM1", element: 9 })).toBe(true);
    expect(complete({ op: "insert_after", segment: "CLM", text: "HI" })).toBe(false);
    expect(complete({ op: "delete", segment: "x" })).toBe(false);
    expect(completeRx({ op: "set", segment: "11" })).toBe(false);
    expect(completeRx({ op: "insert", segment: "13" })).toBe(true);
    expect(completeRx({ op: "set", segment: "11", field: "D9" })).toBe(true);
  });
});

describe("a draft that is handed on", () => {
  it("is gone once it was taken", () => {
    give({ rules: [], rx_rules: [], which: {}, reason: "" });
    expect(peek()).not.toBeNull();
    clear();
    expect(peek()).toBeNull();
  });
});
