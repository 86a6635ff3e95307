// The serving process is killed in the middle of a replay that somebody watches. It is started again, and the replay goes
// on by itself: seen in the same page after a sign-in, and no claim is sent twice.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

const n = 50; // fewer, and for less money, than take a second person

await walk({ rules: ["dedupe off"] }, async ({ world, open }) => {
  for (let i = 0; i < n; i++) await world.deadLetter(1 + i, "reason=RETRIES_EXHAUSTED&detail=HTTP_503&attempts=5");
  const olga = await open("olga");
  await olga.signIn();
  const { page } = olga;
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Causes" }).click();
  await olga.button(/^Replay all/).click();
  await olga.button(`Run: release ${n}`).click();
  const paid = async () => (await world.ofPayer("accepted")).fills.length;
  await world.until("some are released", async () => (await paid()) >= 10);
  await world.kill();
  const before = await paid();
  assert.ok(before < n, `all ${n} were released before the kill`);
  await world.serve();
  // Sessions are in memory, so they end with the process; the page stays behind the question, as it was.
  await olga.signInAgain();
  await page.getByText(`${n} records released, ${n} settled`).waitFor({ timeout: 4 * 60_000 });
  assert.equal(await paid(), n);
  assert.deepEqual(await world.ofPayer("duplicates"), [], "claims paid twice");
  assert.equal((await world.records({ state: "settled" })).length, n);
  olga.quiet();
});
