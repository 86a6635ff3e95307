// A viewer sees figures and records; claims are closed to him, whatever he tries.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, marks, open }) => {
  await world.claims("--claims", "20", "--fault", "missing-hi/2", "--canary");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 10);
  const [r] = await world.records({ state: "quarantined" });

  const vic = await open("vic");
  await vic.signIn();
  const { page } = vic;
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Causes" }).click();
  await vic.button(/^Look at one/).click();
  await page.getByRole("heading", { name: `Record ${r.id}` }).waitFor();
  await page.getByText("There is nothing that you may do.").waitFor();
  for (const action of ["Look and correct", "Replay", "Park", "Write off"]) assert.equal(await page.getByRole("main").getByRole("button", { name: action, exact: true }).count(), 0, action);

  // The addresses themselves.
  await vic.go(`/records/${r.id}/claim`);
  await vic.text("Your role does not look into claims.").waitFor();
  assert.equal(await vic.button("Open the claim").count(), 0);
  await vic.go("/recipes/new");
  await vic.text("Your role does not correct claims").waitFor();
  await vic.go("/replays/new?state=quarantined");
  await vic.text("You may not do that").waitFor();
  await vic.go("/users");
  await vic.text("You may not do that").waitFor();

  // The API behind them, asked from his own page.
  const ask = (method, at, body) =>
    page.evaluate(
      async ([method, at, body]) =>
        (await fetch(at, { method, headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID(), "If-Match": '"1"' }, body: JSON.stringify(body) })).status,
      [method, at, body],
    );
  const reason = "let me see";
  for (const [at, body] of [
    [`/v1/records/${r.id}/view`, { reason }],
    [`/v1/records/${r.id}/reveal`, { reason }],
    [`/v1/records/${r.id}/correct`, { reason, edits: [{ op: "set", segment: 1, element: 1, value: "1" }] }],
    [`/v1/records/${r.id}/replay`, { reason }],
    [`/v1/replays`, { reason, filter: { state: "quarantined" } }],
    [`/v1/session/elevation`, { reason }],
  ]) {
    assert.equal(await ask("POST", at, body), 403, at);
  }
  assert.equal((await world.audit({ action: "reveal" })).filter((e) => e.actor === "vic" && e.record === r.id && !e.code?.startsWith("refused")).length, 0);
  await vic.keepsNone(marks, "a viewer");
  vic.quiet();
});
