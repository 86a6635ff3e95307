// 120 pharmacy claims have an amount in dollars where one in cents is due. An analyst corrects one, sees that the
// same is to be done to all, does it, and releases them with a second person.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

const bad = 120;

// The payer puts marks into its answers, too.
await walk({ rules: ["canary on"] }, async ({ world, marks, open, say }) => {
  await world.claims("--format", "ncpdp-batch", "--claims", String(2 * bad), "--fault", "bad-money/2", "--partial-every", "-1", "--canary");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined", stream: "ncpdp" })).length === bad);

  const ana = await open("ana");
  await ana.signIn();
  const { page } = ana;
  const before = ana.clicks;
  // The list of causes, one of its records, the claim.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Causes" }).click();
  await ana.button(/^Look at one/).click();
  await ana.link("Look and correct").click();
  await page.getByLabel("Reason").fill("Amount without its sign");
  await ana.button("Open the claim").click();
  await ana.button(/^Write /).click();
  await ana.text("Clean: it can be sealed").waitFor();
  await ana.keepsNone(marks, "with an edit");
  await ana.button("Seal as revision 2").click();
  await page.getByRole("heading", { name: "Revision 2 is sealed" }).waitFor();
  await ana.button("Replay it now").click();
  await ana.text("It is released").waitFor();
  await ana.button(/^Do the same to the 119/).click();
  // What stood there stands in all of them.
  await ana.button("Preview on 119 records").click();
  await ana.button("Correct 119").click();
  await ana.button("Replay these 119").click();
  await ana.button("Ask a second person").click();

  const abe = await open("abe");
  await abe.signIn("/approvals");
  await abe.button("Approve", { exact: true }).click();
  await ana.button("Run: release 119").click();
  say(`${ana.clicks - before} clicks of the analyst`);
  await page.getByText("119 records released, 119 settled").waitFor({ timeout: 4 * 60_000 });

  const payer = await world.ofPayer("accepted");
  assert.equal(payer.fills.length, 2 * bad, "fills that the payer knows");
  assert.deepEqual(await world.ofPayer("duplicates"), []);
  assert.equal((await world.records({ state: "quarantined" })).length, 0);
  assert.equal((await world.audit({ action: "reveal" })).length, 1, "claims opened for a person");
  for (const d of [ana, abe]) {
    await d.keepsNone(marks, "at the end");
    d.quiet();
  }
});
