// 1,000 of 2,000 professional claims lack their diagnosis. An analyst takes them from the alarm on his overview to settled, with one look
// into one claim; so many take a second person, in a browser of his own.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

const claims = 1000;

// Whether it is the depth that rings or the rise does not matter here: the rise needs a minute of figures before.
const more = "  rules:\n    dlq_depth: {threshold: 300, for: 0s}";

await walk({ more }, async ({ world, marks, open, say }) => {
  await world.claims("--claims", String(2 * claims), "--fault", "missing-hi/2", "--canary");
  await world.until("an alarm", async () => (await world.as("olga", "GET", "/v1/alarms")).alarms.length > 0);

  const abe = await open("abe");
  await abe.signIn("/approvals");
  await abe.text("Nothing waits for you").waitFor();
  const ana = await open("ana");
  await ana.signIn();
  const { page } = ana;
  const rings = page.getByRole("list", { name: "What rings" }).getByRole("link", { name: /quarantine/ });
  await rings.first().waitFor();
  // The overview says how fast they came, and of what; each reason leads to its records.
  const reason837 = page.getByRole("table", { name: "Records in quarantine by reason" }).getByRole("row", { name: /Faulty form/ });
  await reason837.getByText("1,000", { exact: true }).waitFor();
  assert.equal(await page.getByRole("table", { name: "Records in quarantine by reason" }).getByRole("row").count(), 6);
  assert.equal(await reason837.getByRole("link").getAttribute("href"), "/records?state=quarantined&reason=FATAL_SYNTAX");
  const rates = page.getByRole("table", { name: "Rates" });
  await rates.getByRole("row", { name: /Medical and dental/ }).getByText("alarm from 300 a minute").waitFor();
  for (const row of [/Claims taken in \S+ a minute/, /Medical and dental \S+ a minute/, /Pharmacy 0 a minute/]) await rates.getByRole("row", { name: row }).waitFor();
  const before = ana.clicks + abe.clicks;
  const reason = "The export left the diagnosis out";

  await rings.first().click();
  await ana.button(/^Look at one/).click();
  await ana.button("Look and correct").or(ana.link("Look and correct")).click();
  await page.getByLabel("Reason").fill(reason);
  await ana.button("Open the claim").click();
  await ana.button("Insert HI").first().click();
  // A line points at up to three.
  await page.keyboard.type("S72461R*ABF:T63442D*ABF:O98319");
  await ana.keepsNone(marks, "with an edit");
  await ana.button(/^The same for all 1,000/).click();
  await ana.button("Preview on 1,000 records").click();
  await ana.keepsNone(marks, "while a recipe is made");
  await ana.button("Correct 1,000").click();
  await ana.button("Replay these 1,000").click();
  await ana.button("Ask a second person").click();

  await abe.button("Approve", { exact: true }).click();
  await ana.button("Run: release 1,000").click();
  const clicks = ana.clicks + abe.clicks - before;

  await page.getByText("1,000 records released, 1,000 settled").waitFor({ timeout: 5 * 60_000 });
  say(`${claims} claims with one cause: ${clicks} clicks from the overview to settled, the second person's among them`);
  assert.ok(clicks <= 12, `${clicks} clicks`);
  const revealed = await world.audit({ action: "reveal" });
  assert.equal(revealed.length, 1, "claims opened for a person");
  assert.equal(revealed[0].actor, "ana");
  const accepted = await world.ofPayer("accepted");
  assert.equal(accepted.accepted_claims.length, 2 * claims, "claims that the payer has");
  assert.deepEqual(await world.ofPayer("duplicates"), []);
  for (const d of [ana, abe]) {
    await d.keepsNone(marks, "at the end");
    d.quiet();
  }
});
