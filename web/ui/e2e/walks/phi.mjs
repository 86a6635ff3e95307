// What a claim holds stays in the page that shows it: not in addresses, titles, storage or the console, and not in the
// browser's folder on the disk, where its history, its cache and what it needs to open the same pages again are.
import assert from "node:assert/strict";
import { filesWith, marksIn } from "../kit/desk.mjs";
import { walk } from "../kit/walk.mjs";

await walk({ rules: ["canary on"] }, async ({ world, marks, open }) => {
  await world.claims("--claims", "12", "--fault", "missing-hi/3", "--canary");
  await world.claims("--format", "ncpdp-batch", "--claims", "12", "--fault", "bad-money/3", "--partial-every", "-1", "--canary");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 8);
  const medical = await world.records({ state: "quarantined", stream: "837" });
  const pharmacy = await world.records({ state: "quarantined", stream: "ncpdp" });

  const ana = await open("ana");
  await ana.signIn();
  const { page } = ana;
  const shown = async () => marksIn(await page.evaluate(() => document.body.innerText + [...document.querySelectorAll("input, textarea")].map((i) => i.value).join("\n")), marks);

  for (const [r, edit] of [
    [medical[0], async () => {
      await ana.button("Insert HI").click();
      await page.keyboard.type("S72461R*ABF:T63442D*ABF:O98319");
    }],
    [pharmacy[0], () => ana.button(/^Write /).click()],
  ]) {
    await ana.go(`/records/${r.id}`);
    assert.deepEqual(await shown(), [], "a record's page shows marks");
    await ana.go(`/records/${r.id}/claim`);
    await page.getByLabel("Reason").fill("Correct a fault");
    await ana.button("Open the claim").click();
    await ana.button("Show or hide all").click();
    await page.getByRole("textbox").nth(3).waitFor();
    assert.ok((await shown()).length >= 3, "an opened claim shows its values");
    await ana.keepsNone(marks, `claim ${r.id} is open`);
    await edit();
    await ana.text("Clean: it can be sealed").waitFor();
    await ana.keepsNone(marks, `claim ${r.id} is edited`);
    // To a recipe and its preview, which is masked; and back through the history.
    await ana.button(/^The same for all/).click();
    await ana.button(/^Preview/).click();
    await page.getByText("What it would do").waitFor();
    await page.getByRole("listitem").filter({ hasText: "→" }).first().waitFor();
    assert.deepEqual(await shown(), [], "a preview shows marks");
    await ana.keepsNone(marks, "a recipe is previewed");
    await page.goBack();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.goBack();
    await ana.button("Open the claim").waitFor();
    assert.deepEqual(await shown(), [], "a claim that was left shows marks");
    await ana.keepsNone(marks, "back at a claim that was left");
    await page.reload();
    await ana.button("Open the claim").waitFor();
    assert.deepEqual(await shown(), []);
  }
  // A claim is left open when the browser ends.
  await page.getByLabel("Reason").fill("Correct a fault");
  await ana.button("Open the claim").click();
  await ana.button("Show or hide all").click();
  await ana.button(/^Write /).click();
  ana.quiet();
  const { profile } = ana;
  await ana.close();
  assert.deepEqual(filesWith(profile, marks), [], "files of the browser hold marks");

  // Each of the places would have been found out.
  const bad = await open("ana");
  await bad.page.goto(`${world.base}/?${marks[0]}`);
  await bad.page.evaluate(async (m) => {
    localStorage.setItem("a", m);
    console.log(m);
    await new Promise((yes, no) =>
      Object.assign(indexedDB.open("a"), {
        onupgradeneeded: (e) => e.target.result.createObjectStore("a"),
        onsuccess: (e) => Object.assign(e.target.result.transaction("a", "readwrite").objectStore("a").put(m, 1), { onsuccess: yes, onerror: no }),
        onerror: no,
      }),
    );
    await (await caches.open("a")).put("/a", new Response(m));
  }, marks[0]);
  const kept = await bad.keeps();
  for (const place of ["local", "databases", "caches"]) assert.deepEqual(marksIn(JSON.stringify(kept[place]), marks), [marks[0]], place);
  await assert.rejects(bad.keepsNone(marks, ""), /holds marks/);
  assert.deepEqual(marksIn([...bad.urls].join(), marks), [marks[0]]);
  assert.deepEqual(marksIn(bad.said.join(), marks), [marks[0]]);
  await bad.close();
  assert.notDeepEqual(filesWith(profile, marks), []);
});
