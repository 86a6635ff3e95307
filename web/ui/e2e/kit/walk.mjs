// Runs one walk: `node walks/NAME.mjs`. PROGRAM is the program, SCRATCH an empty folder, MARKS texts of claims as JSON, ARTIFACTS where pictures of a failure go.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Desk } from "./desk.mjs";
import { World } from "./world.mjs";

export async function walk(settings, f) {
  const program = path.resolve(process.env.PROGRAM || "../../bin/claimdlq");
  const scratch = process.env.SCRATCH || fs.mkdtempSync(path.join(os.tmpdir(), "claimdlq-console-"));
  const desks = [];
  let world;
  try {
    world = await World.begin(program, path.join(scratch, "world"), settings);
    await f({
      world,
      marks: JSON.parse(process.env.MARKS || "[]"),
      say: (s) => console.log(s),
      open: async (login, options) => {
        const d = await Desk.open(world, login, scratch, options);
        desks.push(d);
        return d;
      },
    });
  } catch (e) {
    console.error(e);
    process.exitCode = 1;
    const to = process.env.ARTIFACTS;
    for (const d of desks) {
      console.error(`${d.login} at ${d.page.url()}; the console said:\n${d.said.slice(-20).join("\n")}`);
      for (const [r, since] of d.open) console.error(`no answer yet: ${r.method()} ${r.url()}, for ${Date.now() - since} ms`);
      if (to) await d.page.screenshot({ path: path.join(to, `${d.login}.png`), timeout: 10_000 }).catch(() => undefined);
    }
    if (world) {
      console.error(`the serving process said:\n${world.log.slice(-4000)}`);
    }
  }
  for (const d of desks) await d.close().catch(() => undefined);
  await world?.end();
  if (!process.env.SCRATCH) fs.rmSync(scratch, { recursive: true, force: true });
}
