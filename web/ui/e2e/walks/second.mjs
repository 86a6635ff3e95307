// What takes two people: an operator or analyst asks, an approver sees exactly what, says no or yes, and only then is it done, by who asked.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, open }) => {
  await world.claims("--claims", "2", "--fault", "missing-hi@1");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 1);
  const [r] = await world.records({ state: "quarantined" });
  const state = async () => (await world.record(r.id)).state;

  const olga = await open("olga");
  const abe = await open("abe");
  await olga.signIn(`/records/${r.id}`);
  await abe.signIn("/approvals");
  const act = async (d, action, verb, reason) => {
    const dialog = d.page.getByRole("dialog");
    await d.page.getByRole("main").getByRole("button", { name: action, exact: true }).click();
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: verb, exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
  };
  await act(olga, "Park", "Park", "Waits for the practice");
  await world.until("parked", async () => (await state()) === "parked");

  // No.
  await act(olga, "Give back", "Ask a second person", "The practice has answered");
  await abe.text("The practice has answered").waitFor();
  await abe.button("Refuse …").click();
  const no = abe.page.getByRole("dialog");
  await no.getByLabel("Reason").fill("Look at the cause first");
  await no.getByRole("button", { name: "Refuse", exact: true }).click();
  await no.waitFor({ state: "hidden" });
  assert.equal(await state(), "parked");

  // Not yet given, it is good for nothing.
  await act(olga, "Give back", "Ask a second person", "The cause is found");
  await abe.text("“The cause is found”").waitFor();
  const asked = (await world.as("olga", "GET", "/v1/approvals")).approvals.find((a) => a.state === "asked");
  await assert.rejects(
    world.as("olga", "POST", `/v1/records/${r.id}/unpark`, { reason: "at once", approval: asked.id }, { "If-Match": `"${(await world.record(r.id)).revision}"` }),
    (e) => e.status === 403,
    "without a second person",
  );
  await abe.page.getByLabel("Note").fill("Seen");
  await abe.button("Approve", { exact: true }).click();
  await olga.text("a second person said yes").waitFor();
  await act(olga, "Give back", "Give back", "The cause is found");
  await world.until("given back", async () => (await state()) === "quarantined");

  // An approver opens no claims.
  await abe.go(`/records/${r.id}`);
  assert.equal(await abe.link("Look and correct").count(), 0);

  // Writing off goes the same way; an analyst asks for it.
  const ana = await open("ana");
  await ana.signIn(`/records/${r.id}`);
  await act(ana, "Write off", "Ask a second person", "Billed again by the provider");
  await abe.go("/approvals");
  await abe.text("“Billed again by the provider”").waitFor();
  await abe.button("Approve", { exact: true }).click();
  await ana.text("a second person said yes").waitFor();
  await act(ana, "Write off", "Write off", "Billed again by the provider");
  await world.until("written off", async () => (await state()) === "withdrawn");
  for (const d of [olga, abe, ana]) d.quiet();
});
