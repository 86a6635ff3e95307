// Every page, light and dark, wide and narrow: nothing that keeps people with other eyes or hands out (axe), nothing in the
// console, nothing wider than a telephone.
import assert from "node:assert/strict";
import { live, look, pages, settings } from "../kit/lived.mjs";
import { walk } from "../kit/walk.mjs";

// What opens at a button of a page: one of each kind. It is looked at, and closed by the keyboard.
async function popups(d) {
  const wrong = [];
  const kinds = new Set();
  for (const b of await d.page.locator("main button[popovertarget]").all()) {
    const label = (await b.getAttribute("aria-label")) ?? (await b.innerText());
    const kind = label.replace(/:.*/, "");
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    await b.click();
    const open = d.page.locator(".popup:popover-open");
    await open.waitFor();
    const [at, room] = [await open.boundingBox(), d.page.viewportSize()];
    if (at.x < 0 || at.y < 0 || at.x + at.width > room.width || at.y + at.height > room.height) wrong.push(`${label}: it lies beside the window`);
    if ((await open.locator(":focus").count()) !== 1) wrong.push(`${label}: the focus is not in it`);
    for (const v of await d.violations()) wrong.push(`${label}: ${v}`);
    await d.page.keyboard.press("Escape");
    await open.waitFor({ state: "hidden" });
    if (!(await b.evaluate((x) => x === document.activeElement))) wrong.push(`${label}: the focus does not come back`);
  }
  return wrong;
}

await walk(settings, async ({ world, open, say }) => {
  const at = await live(world);
  const wrong = [];
  let seen = 0;
  for (const scheme of ["light", "dark"]) {
    const desks = new Map();
    const first = await open("vic", { scheme });
    await first.page.goto(world.base);
    await first.page.getByLabel("Login").waitFor();
    for (const v of await first.violations()) wrong.push(`sign-in, ${scheme}: ${v}`);
    for (const [name, address, who] of pages(at)) {
      let d = desks.get(who);
      if (!d) {
        d = await open(who, { scheme });
        desks.set(who, d);
        await d.signIn();
      }
      await d.page.setViewportSize({ width: 1360, height: 860 });
      await d.go(address);
      await look(d, name);
      for (const v of await d.violations()) wrong.push(`${name}, ${scheme}: ${v}`);
      for (const v of await popups(d)) wrong.push(`${name}, ${scheme}, ${v}`);
      if (scheme === "light") {
        await d.page.setViewportSize({ width: 390, height: 780 });
        const [width, room] = await d.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        if (width > room) wrong.push(`${name}: ${width} wide where there are ${room}`);
        for (const v of await d.violations()) wrong.push(`${name}, narrow: ${v}`);
      }
      seen++;
    }
    for (const d of [first, ...desks.values()]) {
      d.quiet();
      await d.close();
    }
  }
  assert.deepEqual(wrong, []);
  say(`${seen} views of ${pages(at).length} pages`);
});
