import { expect, it } from "vitest";
import { describe, format, parse, selects } from "./filter";

it("keeps what the address has, and nothing else of it", () => {
  expect(format(parse("?state=parked&detail=IK4:HI01&amount_min_cents=100&amount_max_cents=x&name=DOE"))).toBe("state=parked&detail=IK4%3AHI01&amount_min_cents=100");
});

it("lets a plan select what waits for people, also by rules and amounts", () => {
  expect(["state=parked", "state=in_doubt&stream=ncpdp", "state=quarantined&rule_version=v2&amount_min_cents=100"].map((s) => selects(parse(s)))).toEqual([true, true, true]);
  expect(["", "partner=P", "state=queued", "state=quarantined&stream=acks", "state=quarantined&format=ack", "state=quarantined&hold=target"].map((s) => selects(parse(s)))).toEqual([false, false, false, false, false, false]);
});

it("takes over what an alarm asks for about held records", () => {
  const f = parse("?state=queued&stream=837&hold=lineage");
  expect(f.hold).toBe("lineage");
  expect(describe(f)).toContain("waits for an earlier record");
});
