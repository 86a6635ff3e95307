// Prints how long it takes from asking for the console to a page that can be used: `make firstpage`. A browser with nothing in
// its cache, and the overview of somebody who is signed in, with a full cache.
import { walk } from "./kit/walk.mjs";

const runs = Number(process.env.RUNS || 9);
const middle = (all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)];

await walk({}, async ({ world, open, say }) => {
  await world.claims("--claims", "100", "--fault", "missing-hi/10");
  const d = await open("vic");
  const cache = await d.context.newCDPSession(d.page);
  // From the page's own clock: its beginning to the first frame in which what is waited for is there.
  const until = (selector) =>
    d.page.evaluate(
      (selector) =>
        new Promise((yes) => {
          const look = () => (document.querySelector(selector) ? requestAnimationFrame(() => yes(performance.now())) : requestAnimationFrame(look));
          look();
        }),
      selector,
    );
  const signIn = [];
  for (let i = 0; i < runs; i++) {
    await cache.send("Network.clearBrowserCache");
    await d.page.goto(world.base, { waitUntil: "commit" });
    signIn.push(await until("input[name=login]"));
  }
  await d.signIn();
  const cold = [];
  const warm = [];
  for (let i = 0; i < runs; i++) {
    await cache.send("Network.clearBrowserCache");
    for (const all of [cold, warm]) {
      await d.page.goto(world.base, { waitUntil: "commit" });
      all.push(await until('section[aria-label="Where claims are"] a'));
    }
  }
  say(`to the sign-in form, nothing in the cache: ${middle(signIn).toFixed(0)} ms; to the overview with its figures: ${middle(cold).toFixed(0)} ms, ${middle(warm).toFixed(0)} ms with a cache (medians of ${runs})`);
});
