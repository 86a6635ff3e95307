// Makes the pictures of the console in docs/images anew: `make screenshots`. All claims are made up; claims stay masked but for the faulty part.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { live, look, pages, settings } from "./kit/lived.mjs";
import { walk } from "./kit/walk.mjs";

const to = fileURLToPath(new URL("../../../docs/images", import.meta.url));

await walk(settings, async ({ world, open, say }) => {
  const at = await live(world);
  const shoot = async (d, name) => {
    // Messages go by themselves; what is in a picture is what stays.
    await d.page.mouse.move(0, 0);
    await d.page.screenshot({ path: path.join(to, `console-${name}.png`), animations: "disabled", caret: "hide" });
    say(`docs/images/console-${name}.png`);
  };
  const nobody = await open("vic");
  await nobody.page.goto(world.base);
  await nobody.page.getByLabel("Login").waitFor();
  await shoot(nobody, "sign-in");
  const desks = new Map();
  for (const [name, address, who] of pages(at)) {
    if (name === "nowhere") continue;
    let d = desks.get(who);
    if (!d) {
      d = await open(who);
      desks.set(who, d);
      await d.signIn();
    }
    await d.go(address);
    await look(d, name);
    if (name === "claim") {
      await d.button("Insert HI").click();
      await d.page.keyboard.type("J069*ABF:E119*ABF:I10");
      await d.text("Clean: it can be sealed").waitFor();
    }
    if (name === "claim-pharmacy") await d.button("Next fault").click();
    await shoot(d, name);
  }
});
