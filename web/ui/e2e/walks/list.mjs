// The list of records: how many there are of what, a view under a name, one record; and the server goes while somebody acts on it.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, open }) => {
  await world.claims("--claims", "20", "--fault", "missing-hi/2");
  await world.claims("--format", "ncpdp-batch", "--claims", "6", "--fault", "bad-money/2", "--partial-every", "-1");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 13);
  await world.until("settled", async () => (await world.records({ state: "settled", stream: "ncpdp" })).length === 3);
  const olga = await open("olga");
  const { page } = olga;
  const dialog = page.getByRole("dialog");
  await olga.signIn("/records");
  const filters = page.getByRole("search", { name: "Filters" });
  const counted = (n) => page.getByRole("status").getByText(n, { exact: false }).first().waitFor();
  const choices = async (label) => (await filters.getByLabel(label, { exact: true }).locator("option").allInnerTexts()).filter((t) => /\d\)$/.test(t));

  // Facets: how many there are of each, under what is chosen of the others.
  await filters.getByLabel("State", { exact: true }).selectOption("quarantined");
  await counted("13 records, the newest first");
  assert.deepEqual(await choices("Stream"), ["Medical and dental (10)", "Pharmacy (3)"]);
  await filters.getByLabel("Stream", { exact: true }).selectOption("ncpdp");
  await counted("3 records, the newest first");
  assert.deepEqual(await choices("Reason"), ["Faulty form (3)"]);
  const ids = () => page.getByRole("row").filter({ has: page.locator("time") }).evaluateAll((rows) => rows.map((r) => Number(/\d+/.exec(r.innerText)[0])));
  assert.deepEqual((await ids()).sort(), (await world.records({ state: "quarantined", stream: "ncpdp" })).map((r) => r.id).sort());

  // Under a name, for the next time.
  const views = page.getByRole("main").getByRole("button", { name: "Views" });
  const popup = page.locator(".popup:popover-open");
  await views.click();
  await popup.getByRole("button", { name: "Save this view …" }).click();
  await dialog.getByLabel("Name").fill("Needs correction");
  await dialog.getByText("There is one of that name").waitFor();
  await dialog.getByLabel("Name").fill("Pharmacy to mend");
  await dialog.getByRole("button", { name: "Save" }).click();
  await olga.button("Pharmacy to mend").waitFor();
  await olga.go("/records");
  await counted("records, the newest first");
  await olga.button("Views").click();
  await popup.getByRole("button", { name: "Pharmacy to mend" }).click();
  await counted("3 records, the newest first");
  assert.equal(new URL(page.url()).search, "?state=quarantined&stream=ncpdp");
  await olga.button("Pharmacy to mend").click();
  await popup.getByRole("button", { name: "Rename or delete …" }).click();
  await dialog.getByRole("button", { name: "Delete Pharmacy to mend" }).click();
  await dialog.getByText("There are none left.").waitFor();
  await page.keyboard.press("Escape");
  await olga.button("Views").waitFor();

  // The server goes while she acts, and comes back: she is told, what she typed stays, and it is done once.
  const [r] = await world.records({ state: "quarantined", stream: "ncpdp" });
  await page.getByLabel("Find by id or key").fill(String(r.id));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Record ${r.id}` }).waitFor();
  await olga.button("Park", { exact: true }).click();
  await dialog.getByLabel("Reason").fill("Waits for the pharmacy");
  await world.kill();
  await dialog.getByRole("button", { name: "Park", exact: true }).click();
  await dialog.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await world.serve();
  await olga.signInAgain();
  assert.equal(await dialog.getByLabel("Reason").inputValue(), "Waits for the pharmacy");
  await dialog.getByRole("button", { name: "Park", exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
  await world.until("parked", async () => (await world.record(r.id)).state === "parked");
  assert.deepEqual((await world.audit({ action: "park" })).map((e) => [e.actor, e.record, e.note]), [["olga", r.id, "Waits for the pharmacy"]]);
  olga.quiet();
});
