// The server is away, while somebody comes and while somebody is there: the page says so and what to do, and goes on by itself once
// it is back. And whoever comes is offered the ways to sign in that there are.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, open }) => {
  await world.claims("--claims", "4", "--fault", "missing-hi/2");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length === 2);
  const vic = await open("vic");
  const { page } = vic;
  const said = page.getByRole("status").filter({ hasText: "The server does not answer" });
  const session = `${world.base}/v1/session`;

  // Something between answers for it, then it is there.
  await page.route(session, (r) => r.fulfill({ status: 502 }));
  await page.goto(world.base);
  await said.getByText("claimdlq serve").waitFor();
  assert.deepEqual(await vic.violations(), []);
  await page.unroute(session);
  await page.getByLabel("Login").waitFor();
  assert.equal(await vic.link("Single sign-on").count(), 0, "a way that there is not");

  await page.route(session, async (r) => {
    const answer = await r.fetch();
    await r.fulfill({ response: answer, json: { ...(await answer.json()), single_sign_on: true } });
  });
  await page.reload();
  await vic.link("Single sign-on").waitFor();
  await page.unroute(session);

  // The machine is too busy: he is told, each time, and presses again.
  const asked = [];
  await page.route(/\/v1\/session(\/password)?$/, async (r) => {
    const what = r.request().method();
    if (what === "GET") return r.continue();
    asked.push(what);
    if (asked.filter((x) => x === what).length > 1) return r.continue();
    await r.fulfill({ status: 503, json: { code: "unavailable", detail: "not made durable in time", hint: "try again" } });
  });
  await vic.signIn("/records");
  assert.deepEqual(asked, ["POST", "POST", "PUT", "PUT"]);
  await page.unrouteAll();
  await page.getByRole("row").nth(2).waitFor();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  const figures = page.getByRole("region", { name: "Where claims are" });
  await figures.getByText("2 records").first().waitFor();
  assert.equal(await said.count(), 0);
  await world.kill();
  await said.waitFor();
  // What was there stays.
  await figures.getByText("2 records").first().waitFor();
  assert.deepEqual(await vic.violations(), []);
  await world.serve();
  // Sessions end with the process. Nobody has touched the page.
  await vic.signInAgain();
  await said.waitFor({ state: "hidden" });
  await page.getByText("As it is now.").waitFor();
  vic.quiet();
});
