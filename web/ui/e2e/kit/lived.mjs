// A world with work in every state: what each page is about is there.
import { people } from "./world.mjs";

/** An outage that goes on, three causes, a claim parked, one in doubt, a request for a second person, a recipe, a replay. */
export const settings = {
  rules: ["claim bin=888888 reject 92"],
  more: "  rules:\n    dlq_depth: {threshold: 5, for: 0s}",
};

/** Fills the world and returns where something is to be seen. */
export async function live(world) {
  for (const login of Object.keys(people)) await world.enter(login);
  await world.claims("--claims", "120", "--fault", "missing-hi/3");
  await world.claims("--format", "ncpdp-batch", "--claims", "60", "--fault", "bad-money/2", "--partial-every", "-1");
  await world.claims("--format", "ncpdp-batch", "--batch-number", "9", "--first-claim", "5000", "--bin", "888888", "--claims", "12");
  for (let i = 0; i < 8; i++) await world.deadLetter(20_000 + i, "reason=RETRIES_EXHAUSTED&detail=HTTP_503&attempts=5");
  await world.deadLetter(21_000, "reason=OUTCOME_UNKNOWN&detail=TIMEOUT&attempts=1&ambiguous=true");
  await world.until("quarantine", async () => (await world.records({ state: "quarantined" })).length >= 78);

  const bad = await world.records({ state: "quarantined", stream: "837" });
  const rx = await world.records({ state: "quarantined", stream: "ncpdp", reason: "FATAL_SYNTAX" }).then((all) => (all.length > 0 ? all : world.records({ state: "quarantined", stream: "ncpdp" })));
  const match = (r) => ({ "If-Match": `"${r.revision}"` });
  const parked = (await world.as("olga", "POST", `/v1/records/${bad[0].id}/park`, { reason: "waits for the practice" }, match(bad[0]))).record;
  await world.as("olga", "POST", `/v1/records/${parked.id}/unpark:ask`, { reason: "the practice has answered" }, match(parked));
  const filter = { state: "quarantined", stream: "837", reason: bad[1].reason_code, detail: bad[1].error_detail };
  const recipe = await world.as("ana", "POST", "/v1/recipes:preview", { reason: "the export left the diagnosis out", filter, rules: [{ op: "insert_after", segment: "REF", loop: "2300", where: [{ element: 1, value: "D9" }], text: "HI*ABK:J069*ABF:E119*ABF:I10" }] });
  const plan = (await world.as("olga", "POST", "/v1/replays", { reason: "the partner is back", filter: { state: "quarantined", stream: "ncpdp", reason: "RETRIES_EXHAUSTED" } })).plan;
  await world.as("olga", "POST", `/v1/replays/${plan.id}/dry-run`, { reason: "what would happen" });
  const act = (await world.as("olga", "POST", "/v1/acts", { act: "park", reason: "under investigation", filter: { state: "quarantined", stream: "837" } })).plan;
  await world.as("olga", "PUT", "/v1/switches/ncpdp", { reason: "the partner asked for a pause", partner: "777777:TESTPCN", unseen: true });
  // One runs for as long as its partner is stopped, one has stopped by itself, as its partner is out, one is done.
  const run = async (first, bin, state) => {
    for (const i of [0, 1]) await world.deadLetter(first + i, "reason=RETRIES_EXHAUSTED&detail=HTTP_502&attempts=5", "--bin", bin);
    const ids = (await world.records({ state: "quarantined", detail: "HTTP_502", partner: `${bin}:TESTPCN` })).map((r) => r.id);
    const { id, digest } = (await world.as("olga", "POST", "/v1/replays", { reason: "the partner is back", ids, policy: { unchanged: true, canary: 1 } })).plan;
    const progress = async () => (await world.as("olga", "GET", `/v1/replays/${id}`)).progress;
    await world.as("olga", "POST", `/v1/replays/${id}/dry-run`, { reason: "what would happen" });
    await world.until("dry run", async () => (await progress()).dry_run_at !== undefined);
    await world.as("olga", "POST", `/v1/replays/${id}/run`, { reason: "as planned", digest });
    await world.until(`a replay that is ${state}`, async () => (await progress()).state === state);
    return id;
  };
  const done = await run(22_000, "999999", "done");
  const stopped = await run(23_000, "888888", "stopped");
  const running = await run(24_000, "777777", "running");
  await world.until("an alarm", async () => (await world.as("olga", "GET", "/v1/alarms")).alarms.length > 0);
  return { bad: bad[1].id, rx: rx[1].id, parked: parked.id, recipe: recipe.id, plan: plan.id, done, stopped, running, act: act.id };
}

/** Every page by a short name: its address, and who looks at it. */
export const pages = (at) => [
  ["overview", "/", "ana"],
  ["causes", "/groups", "ana"],
  ["records", "/records?state=quarantined", "ana"],
  ["record", `/records/${at.bad}`, "ana"],
  ["claim", `/records/${at.bad}/claim`, "ana"],
  ["claim-pharmacy", `/records/${at.rx}/claim`, "ana"],
  ["in-doubt", "/in-doubt", "ana"],
  ["parked", "/parked", "ana"],
  ["deadlines", "/deadlines", "ana"],
  ["recipes", "/recipes", "ana"],
  ["recipe-new", "/recipes/new", "ana"],
  ["recipe", `/recipes/${at.recipe}`, "ana"],
  ["replays", "/replays", "ana"],
  ["replay-new", "/replays/new", "ana"],
  ["replay", `/replays/${at.plan}`, "ana"],
  ["act", `/acts/${at.act}`, "ana"],
  ["replay-running", `/replays/${at.running}`, "ana"],
  ["replay-stopped", `/replays/${at.stopped}`, "ana"],
  ["replay-done", `/replays/${at.done}`, "ana"],
  ["dialog", `/replays/${at.running}`, "ana"],
  ["alarms", "/alarms", "ana"],
  ["partners", "/switches", "ana"],
  ["sizing", "/sizing", "ana"],
  ["keys", "/keys", "ana"],
  ["account", "/account", "ana"],
  ["nowhere", "/nowhere", "ana"],
  ["approvals", "/approvals", "abe"],
  ["audit", "/audit", "ada"],
  ["users", "/users", "ada"],
];

/** Opens the claim or the dialog that a page is about, where it is one: what matters of it is what is inside. */
export async function look(d, name) {
  if (name === "dialog") {
    await d.button("Pause", { exact: true }).click();
    await d.page.getByRole("dialog").getByLabel("Reason").fill("The partner asked for it");
  }
  if (!name.startsWith("claim")) return;
  await d.page.getByLabel("Reason").fill("Correct a fault");
  await d.button("Open the claim").click();
  await d.page.getByRole("group", { name: "Segments" }).waitFor();
}
