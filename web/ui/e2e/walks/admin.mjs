// An administrator lets a person and a program in and shuts them out again; what is secret is shown once. What was done is found in
// the audit log, which is verified; and a stream is sized.
import assert from "node:assert/strict";
import { walk } from "../kit/walk.mjs";

await walk({}, async ({ world, open }) => {
  await world.claims("--claims", "2");
  const ada = await open("ada");
  const { page } = ada;
  const dialog = page.getByRole("dialog");
  const shown = () => page.evaluate(() => document.body.innerText + [...document.querySelectorAll("input, textarea")].map((i) => i.value).join("\n"));
  const user = async (login) => (await world.as("ada", "GET", "/v1/users")).users.find((u) => u.login === login);

  // A person.
  await ada.signIn("/users");
  await ada.button("Add a user").click();
  await dialog.getByLabel("Login").fill("zoe");
  await dialog.getByRole("checkbox", { name: "viewer" }).uncheck();
  await dialog.getByRole("checkbox", { name: "operator" }).check();
  await dialog.getByLabel("Partners").fill("777777");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByText("First password of zoe").waitFor();
  const first = await dialog.locator("code").innerText();
  await dialog.getByRole("button", { name: "Done" }).click();
  const zoes = page.getByRole("table", { name: "Users" }).getByRole("row", { name: /^zoe/ });
  await zoes.getByText("first password").waitFor();
  await zoes.getByText("777777").waitFor();
  assert.deepEqual((({ roles, partners, must_change }) => ({ roles, partners, must_change }))(await user("zoe")), { roles: ["operator"], partners: ["777777"], must_change: true });
  await ada.button("Change zoe").click();
  assert.ok(!(await shown()).includes(first), "a password that was shown once is shown again");
  await dialog.getByRole("button", { name: "Close" }).or(dialog.locator(".mantine-Modal-close")).first().click();
  world.newcomer("zoe", first);
  const zoe = await open("zoe");
  await zoe.signIn("/account");
  await zoe.page.getByRole("region", { name: "What I may do" }).getByText("777777").waitFor();

  // She leaves.
  await ada.button("Change zoe").click();
  await dialog.getByRole("button", { name: "Disable" }).click();
  await zoes.getByText("disabled").waitFor();
  assert.equal((await user("zoe")).disabled, true);
  await zoe.button("Sign out everywhere").click();
  await zoe.text("Your session has ended").waitFor();

  // A program.
  await ada.button("Add a user").click();
  await dialog.getByLabel("Login").fill("feeder");
  await dialog.getByLabel("For a program").check();
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("row", { name: /^feeder/ }).getByText("program").waitFor();
  await ada.go("/keys");
  await ada.button("Make a token").click();
  await dialog.getByLabel("Name").fill("night batch");
  await dialog.getByLabel("Owner").fill("feeder");
  await dialog.getByRole("button", { name: "Make it" }).click();
  await dialog.getByText("It is shown this once").waitFor();
  const token = await dialog.locator("code").innerText();
  const asks = async () => (await fetch(`${world.base}/v1/records`, { headers: { Authorization: `Bearer ${token}` } })).status;
  assert.equal(await asks(), 200);
  await dialog.getByRole("button", { name: "Done" }).click();
  const night = page.getByRole("table", { name: "API tokens" }).getByRole("row", { name: /^night batch/ });
  await night.getByText("feeder").waitFor();
  assert.ok(!(await shown()).includes(token), "a token that was shown once is shown again");
  await ada.keepsNone([token, first], "after they were shown");
  await ada.button("End token night batch").click();
  await night.getByText("ended", { exact: true }).waitFor();
  assert.equal(await asks(), 401);

  // What he did is in the log, under his name.
  await ada.go("/audit");
  const entries = page.getByRole("table", { name: "Audit entries" });
  const search = async (fields) => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
    await ada.button("Search").click();
  };
  const made = await world.audit({ actor: "ada", action: "user_create" });
  assert.equal(made.length, 2, "who was let in");
  await search({ Who: "ada", "Did what": "user_create" });
  await entries.getByRole("row").nth(made.length).waitFor();
  assert.deepEqual(await entries.getByRole("row").locator("td:first-child").allInnerTexts(), made.map((e) => e.seq.toLocaleString("en-US")));
  await search({ Who: "nobody" });
  await ada.text("No entry matches").waitFor();
  await ada.button("Clear").click();
  await entries.waitFor();

  // And nobody has changed it; a checkpoint that is not of this log does not fit.
  const verify = page.getByRole("region", { name: "Verify the log" });
  await verify.getByRole("button", { name: "Verify now" }).click();
  await verify.getByText("The log is whole").waitFor();
  const checkpoint = await verify.locator("pre").innerText();
  const kept = verify.getByLabel("Kept checkpoint");
  await kept.fill(checkpoint);
  await verify.getByRole("button", { name: "Verify now" }).click();
  await verify.getByText("The log is whole").waitFor();
  await kept.fill(checkpoint.replace(/^\d+$/m, "1"));
  await verify.getByRole("button", { name: "Verify now" }).click();
  await verify.getByRole("alert").getByText("It is no checkpoint of this log's key.").waitFor();

  // Sizing.
  await ada.go("/sizing");
  await ada.button("Work it out").click();
  const levers = page.getByRole("table", { name: "Levers" });
  await levers.waitFor();
  const picture = page.getByRole("region", { name: "Simulation" }).getByRole("img");
  const drawn = async () => {
    await picture.waitFor();
    await page.waitForFunction((i) => i.complete && i.naturalWidth > 0, await picture.elementHandle());
    return picture.getAttribute("src");
  };
  const usual = await drawn();
  const asked = { rate: "400/s", incident_seconds: [300, 1800], turnaround_seconds: 28_800, transient: "0.1%", base_seconds: 2, cap_seconds: 60, retention_days: 14 };
  const agrees = async (max) => {
    const a = await world.as("ada", "POST", "/v1/sizing", { ...asked, max_receive: max });
    await page.getByRole("status").getByText(a.enough ? "The levers are enough" : "Not every lever is enough").waitFor();
    for (const l of a.levers) await levers.getByRole("row").filter({ hasText: l.arithmetic[0] }).getByText(l.enough ? "yes" : "no", { exact: true }).waitFor();
    const dead = a.incidents.flatMap((i) => [i.without_breaker, i.with_breaker]).map((e) => e.dead_lettered.toLocaleString("en-US"));
    assert.deepEqual(await page.getByRole("table", { name: "Incidents" }).getByRole("row").locator("td:nth-child(3)").allInnerTexts(), dead);
    return a.levers.find((l) => l.name === "max_receive").enough;
  };
  await agrees(5);
  await ada.button("More").click();
  await page.getByLabel("Deliveries in all").fill("1");
  await ada.button("Work it out").click();
  assert.equal(await agrees(1), false, "one delivery only");
  assert.notEqual(await drawn(), usual, "the picture of other levers");
  for (const d of [ada, zoe]) d.quiet();
});
