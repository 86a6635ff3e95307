import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const styles = "node_modules/@mantine/core/styles";

test("the styles of every component in use are there", () => {
  const there = readFileSync("src/app/library.ts", "utf8");
  const missing = new Set<string>();
  for (const file of readdirSync("src", { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(file)) continue;
    for (const [, names] of readFileSync(`src/${file}`, "utf8").matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)) {
      for (const name of names!.split(",").map((n) => n.replace(/^\s*type\s+/, "").split(" as ")[0]!.trim())) {
        if (existsSync(`${styles}/${name}.layer.css`) && !there.includes(`/${name}.layer.css"`)) missing.add(name);
      }
    }
  }
  expect([...missing]).toEqual([]);
});
