// Two analysts work on one record. Who seals first has it; the other is refused, told so, and loses nothing of what was typed.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, marks, open }) => {
  await world.claims("--claims", "2", "--fault", "missing-hi@1", "--canary");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 1);
  const [r] = await world.records({ state: "quarantined" });
  const where = `/records/${r.id}/claim`;

  const edit = async (d, codes) => {
    await d.signIn(where);
    await d.page.getByLabel("Reason").fill("Diagnosis is missing");
    await d.button("Open the claim").click();
    await d.button("Insert HI").click();
    await d.page.keyboard.type(codes);
    await d.text("Clean: it can be sealed").waitFor();
  };
  const ana = await open("ana");
  const bea = await open("bea");
  const hers = "T63442D*ABF:O98319*ABF:S72461R";
  await edit(ana, "S72461R*ABF:T63442D*ABF:O98319");
  await edit(bea, hers);

  await ana.button("Seal as revision 2").click();
  await ana.page.getByRole("heading", { name: "Revision 2 is sealed" }).waitFor();

  // Her page may have been told already, or learns it when she seals: the button is there or has gone.
  await bea.button("Seal as revision 2").click({ timeout: 3_000 }).catch(() => undefined);
  await bea.text("It has changed since you began").waitFor();
  assert.equal(await bea.button("Seal as revision 2").isDisabled(), true);
  const typed = bea.page.getByLabel("New segment", { exact: true });
  assert.equal(await typed.inputValue(), `HI*ABK:${hers}`, "what she typed");
  assert.equal((await world.record(r.id)).payload_revision, 2);

  // She goes on with it as it is now: it has a diagnosis, and a second one is a fault that she is shown.
  await bea.button("Open it as it is now, and keep my edits").click();
  await bea.button("Seal as revision 3").waitFor();
  assert.equal(await typed.inputValue(), `HI*ABK:${hers}`, "what she typed, after it was opened anew");
  const sealed = (await world.audit({ action: "correct" })).filter((e) => e.record === r.id);
  assert.deepEqual([...new Set(sealed.map((e) => e.actor))], ["ana"]);

  // A record is released by one of them only.
  await ana.button("Replay it now").click();
  await ana.text("It is released").waitFor();
  await world.until("settled", async () => (await world.record(r.id)).state === "settled");
  assert.deepEqual(await world.ofPayer("duplicates"), []);
  for (const d of [ana, bea]) {
    await d.keepsNone(marks, "at the end");
    d.quiet();
  }
});
