// An operator on duty: an alarm, a stop, what is in doubt, a file of the payer's answers, and a claim that has to be looked into.
import assert from "node:assert/strict";
import fs from "node:fs/promises";
import path from "node:path";
import { walk } from "../kit/walk.mjs";

const more = "  rules:\n    dlq_depth: {threshold: 2, for: 0s}";

// The payer answers medical claims with files that somebody has to fetch.
await walk({ more, rules: ["answer box"] }, async ({ world, marks, open }) => {
  await world.claims("--claims", "6", "--fault", "missing-hi/2", "--canary");
  for (let i = 0; i < 3; i++) await world.deadLetter(1 + i, "reason=OUTCOME_UNKNOWN&detail=TIMEOUT&attempts=1&ambiguous=true");
  await world.until("in doubt", async () => (await world.records({ state: "in_doubt" })).length === 3);
  await world.until("handed over", async () => (await world.records({ state: "submitted" })).length === 1);
  const olga = await open("olga");
  const { page } = olga;
  const dialog = page.getByRole("dialog");
  const because = async (verb, reason, d = dialog) => {
    await d.getByLabel("Reason").fill(reason);
    await d.getByRole("button", { name: verb, exact: true }).click();
    await d.waitFor({ state: "hidden" });
  };

  // An alarm rings; she says that she has it, and then that she has not.
  await olga.signIn("/alarms");
  const rings = page.getByRole("article").filter({ hasText: "dlq_depth" }).first();
  const summary = await rings.getAttribute("aria-label");
  const card = page.getByRole("article", { name: summary, exact: true });
  const silence = async () => (await world.as("olga", "GET", "/v1/alarms")).alarms.find((a) => a.summary === summary).silence;
  await card.getByRole("button", { name: "Acknowledge" }).click();
  await dialog.getByLabel("Nobody is told of it for").selectOption("4 hours");
  await because("Acknowledge", "Looking into it");
  await card.getByText(/^Acknowledged by olga until .*: Looking into it$/).waitFor();
  const kept = await silence();
  assert.deepEqual([kept.by, kept.reason], ["olga", "Looking into it"]);
  assert.ok(Date.parse(kept.until) > Date.now() + 3 * 3_600_000, `silent until ${kept.until}`);
  await card.getByRole("button", { name: "Let it ring again" }).click();
  await card.getByRole("button", { name: "Acknowledge" }).waitFor();
  assert.equal(await silence(), undefined);

  // A stream is stopped: what comes waits; and started: it goes.
  await olga.go("/switches");
  const stops = page.getByRole("region", { name: "Stopped by people" });
  await stops.getByRole("button", { name: "Stop", exact: true }).click();
  await because("Stop", "Wrong answers");
  await stops.getByText("All of Pharmacy").waitFor();
  assert.deepEqual((await world.as("olga", "GET", "/v1/switches")).stopped, [{ stream: "ncpdp" }]);
  await world.claims("--format", "ncpdp-batch", "--claims", "1", "--first-claim", "100", "--partial-every", "-1");
  const held = (await world.records({ state: "queued", stream: "ncpdp" })).map((r) => r.id);
  assert.equal(held.length, 1, "claims that wait");
  await stops.getByRole("button", { name: "Start" }).click();
  await because("Start", "The fault is mended");
  await stops.getByText("Nothing is stopped.").waitFor();
  assert.deepEqual((await world.as("olga", "GET", "/v1/switches")).stopped, []);
  await world.until("delivered", async () => (await world.record(held[0])).state === "settled");

  // What is in doubt: a payer that is away, a person who knows, a payer that is back.
  await world.payerPlays("request all status 503");
  const line = (d, id) => d.page.getByRole("row").filter({ has: d.page.getByText(String(id), { exact: true }) });
  const beside = (d) => d.page.getByRole("region", { name: "The chosen record" });
  const first = (await world.records({ state: "in_doubt" }))[0].id;
  await olga.go("/in-doubt");
  await line(olga, first).click();
  await beside(olga).getByRole("button", { name: "Ask the payer" }).click();
  await beside(olga).getByRole("alert").getByText("Nothing has changed: try again later.").waitFor();
  assert.equal((await world.record(first)).state, "in_doubt");
  assert.equal(await beside(olga).getByRole("button", { name: /^I know what became/ }).count(), 0, "an operator decides no doubt");

  const ana = await open("ana");
  await ana.signIn("/in-doubt");
  await line(ana, first).click();
  await beside(ana).getByRole("button", { name: /^I know what became/ }).click();
  const knows = ana.page.getByRole("dialog");
  await knows.getByLabel("It did not arrive").check();
  await because("It did not arrive", "The payer says it has nothing", knows);
  await line(ana, first).getByText("Now: Quarantined").waitFor();
  assert.equal((await world.record(first)).state, "quarantined");
  assert.deepEqual((await world.audit({ action: "resolve" })).map((e) => [e.actor, e.record, e.note]), [["ana", first, "The payer says it has nothing"]]);

  await world.payerPlays("answer box");
  await olga.go("/in-doubt");
  await olga.button(/^Ask the payer about/).click();
  await because("Plan it", "The payer is back");
  await olga.button("Ask the payer: 2 records").click();
  await olga.text("Done: 2 answered.").waitFor();
  await olga.go("/in-doubt");
  await olga.text("Nothing is in doubt").waitFor();
  assert.equal((await world.records({ state: "settled", stream: "ncpdp" })).length, 3);

  // The payer's answers, as files.
  const [sent] = await world.records({ state: "submitted" });
  await olga.go(`/records/${sent.id}`);
  const handIn = async (file) => {
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), olga.button("Hand in an acknowledgment …").click()]);
    await chooser.setFiles(file);
  };
  const files = [];
  for (const name of await world.ofPayer("acks")) {
    const file = path.join(world.dir, name);
    await fs.writeFile(file, await (await fetch(`${world.payer}/v1/acks/${name}`)).text());
    files.push(file);
  }
  assert.ok(files.length > 0, "answers of the payer");
  for (const f of files.slice(0, -1)) {
    await handIn(f);
    await olga.text(/\d answers?: /).waitFor();
  }
  await handIn(files.at(-1));
  await olga.text(/3 claims accepted/).waitFor();
  await world.until("settled", async () => (await world.record(sent.id)).state === "settled");
  // There is nothing to hand in any more.
  await page.getByRole("main").getByText("Settled", { exact: true }).first().waitFor();
  await olga.button("Hand in an acknowledgment …").waitFor({ state: "hidden" });

  // To look into a claim is not her work: she may, with a reason, for a while.
  const [bad] = await world.records({ state: "quarantined", stream: "837" });
  await olga.go(`/records/${bad.id}/claim`);
  await olga.text("This breaks the glass").waitFor();
  await page.getByLabel("Reason").fill("Nobody else is on duty");
  await olga.button("Break the glass and open").click();
  await page.getByRole("group", { name: "Segments" }).waitFor();
  for (const action of ["elevate", "reveal"]) {
    const seen = (await world.audit({ action, actor: "olga" })).map((e) => e.note);
    assert.deepEqual(seen, ["Nobody else is on duty"], action);
  }
  await olga.go("/account");
  await olga.text(/^Claims may be opened until/).waitFor();
  for (const d of [olga, ana]) {
    await d.keepsNone(marks, "at the end");
    d.quiet();
  }
});
