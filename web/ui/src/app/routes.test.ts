import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("has the page that each alarm leads to, and a name for the way there", () => {
  const rules = readFileSync("../../deploy/prometheus/claimdlq.rules.yaml", "utf8");
  const paths = [...new Set([...rules.matchAll(/console: '([^'?]+)/g)].map((m) => m[1]!))];
  expect(paths).toContain("/deadlines");
  const [routes, alarms] = ["src/app/routes.tsx", "src/pages/Alarms.tsx"].map((f) => readFileSync(f, "utf8"));
  expect(paths.filter((p) => !routes!.includes(`["${p}", lazy(`) || !alarms!.includes(`"${p}": "`))).toEqual([]);
});

it("gives each room a key of its own", () => {
  const keys = [...readFileSync("src/app/routes.tsx", "utf8").matchAll(/ key: "(.)" \}/g)].map((m) => m[1]);
  expect(keys.length).toBeGreaterThan(10);
  expect(new Set(keys).size).toBe(keys.length);
});
