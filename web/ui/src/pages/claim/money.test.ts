import { expect, it } from "vitest";
import { overpunched } from "./money";

it("puts the sign of an amount into its last digit", () => {
  expect(overpunched("12.34")).toBe("0000123D");
  expect(overpunched("1.5")).toBe("0000015{");
  expect(overpunched("-7")).toBe("0000070}");
  expect(overpunched("-0.09")).toBe("0000000R");
  for (const bad of ["", "0000123D", "12.345", "1,000", "1234567"]) expect(overpunched(bad)).toBeNull();
});
