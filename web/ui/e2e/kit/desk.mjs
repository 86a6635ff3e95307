// A person at a browser, and what the browser tells about him.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { chromium } from "playwright-core";
import { password, patience } from "./world.mjs";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export class Desk {
  /** Clicks that a person made. */
  clicks = 0;
  /** What the pages wrote to the console, failures of scripts among it. */
  said = [];
  /** Every address that was asked for or shown. */
  urls = new Set();
  /** Answers of the API that a browser may keep. */
  kept = [];

  /** Requests without an answer yet, and since when. */
  open = new Map();

  /** Opens a browser with an empty profile in dir. */
  static async open(world, login, dir, { scheme = "light", viewport = { width: 1360, height: 860 } } = {}) {
    const d = new Desk();
    d.world = world;
    d.login = login;
    d.profile = path.join(dir, `profile-${login}-${scheme}-${viewport.width}`);
    fs.mkdirSync(d.profile, { recursive: true });
    d.context = await chromium.launchPersistentContext(d.profile, { executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: flags, viewport, colorScheme: scheme, reducedMotion: "reduce", locale: "en-US", timeout: patience });
    d.context.setDefaultTimeout(patience);
    d.context.on("console", (m) => d.said.push(`${m.type()}: ${m.text()}`));
    d.context.on("weberror", (e) => d.said.push(`failure: ${e.error().message}`));
    d.context.on("request", (r) => d.urls.add(r.url()));
    d.context.on("response", (r) => {
      if (new URL(r.url()).pathname.startsWith("/v1/") && r.headers()["cache-control"] !== "no-store") d.kept.push(r.url());
    });
    for (const [event, f] of [
      ["request", (r) => d.open.set(r, Date.now())],
      ["requestfinished", (r) => d.open.delete(r)],
      ["requestfailed", (r) => d.open.delete(r)],
    ]) d.context.on(event, f);
    await d.context.exposeBinding("personClicked", () => void d.clicks++);
    await d.context.addInitScript(() => addEventListener("click", (e) => e.isTrusted && window.personClicked(), true));
    d.page = d.context.pages()[0] ?? (await d.context.newPage());
    d.page.on("framenavigated", (f) => d.urls.add(f.url()));
    return d;
  }

  /** Signs in; who has his first password chooses another. */
  async signIn(at = "/") {
    const { page, world, login } = this;
    await page.goto(world.base + at);
    await page.getByLabel("Login").fill(login);
    const first = world.firstPassword(login);
    await page.locator("input[name=password]").fill(first ?? password);
    const inside = page.getByRole("navigation", { name: "Pages" });
    await this.press(page.getByRole("button", { name: "Sign in" }), first === undefined ? inside : page.getByRole("heading", { name: "Choose a password" }));
    if (first !== undefined) {
      await page.locator("input[autocomplete=current-password]").fill(first);
      for (const i of [0, 1]) await page.locator("input[autocomplete=new-password]").nth(i).fill(password);
      await this.press(page.getByRole("button", { name: "Set password" }), inside);
      world.chosen(login);
    }
  }

  /** Signs in again where the session has ended, in the dialog before the page. */
  async signInAgain() {
    const again = this.page.getByRole("dialog", { name: "Your session has ended" });
    await again.locator("input[name=password]").fill(password);
    await this.press(again.getByRole("button", { name: "Sign in" }), this.page.locator("body:not(:has(input[name=password]))"));
  }

  /** Presses the button of a form until next is there: a busy machine may say that it is not possible just now, and people press again. */
  async press(button, next, times = 10) {
    const alert = button.locator("xpath=ancestor::form").getByRole("alert");
    for (; ; times--) {
      await button.click();
      await next.or(alert).first().waitFor();
      if ((await alert.count()) === 0) return;
      const said = await alert.innerText();
      assert.ok(times > 1 && said.includes("Not possible just now"), `${this.login} is told: ${said}`);
    }
  }

  async go(at) {
    await this.page.goto(this.world.base + at);
    await this.settled();
  }

  /** Waits until the page has its title and nothing that it waits for. */
  async settled() {
    await this.page.locator("main h1").waitFor();
    await this.page.waitForFunction(() => document.querySelectorAll('[aria-busy="true"], .mantine-Loader-root').length === 0);
  }

  button(name, options = {}) {
    return this.page.getByRole("button", { name, ...options });
  }

  link(name, options = {}) {
    return this.page.getByRole("link", { name, ...options });
  }

  text(what) {
    return this.page.getByText(what);
  }

  /** What is wrong for people who read or work in another way, in words. */
  async violations() {
    await this.page.evaluate(axe);
    const found = await this.page.evaluate((runOnly) => window.axe.run(document, { runOnly }), rules);
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id} (${v.impact}): ${n.target.join(" ")}: ${[...n.any, ...n.all, ...n.none].map((c) => c.message).join("; ")}`));
  }

  /** All that the page keeps in the browser, and what the address bar, the history and the title say now. */
  async keeps() {
    const stored = await this.page.evaluate(async () => {
      const out = { local: { ...localStorage }, session: { ...sessionStorage }, state: history.state, title: document.title, name: window.name, databases: [], caches: [] };
      for (const { name } of await indexedDB.databases()) {
        const db = await new Promise((yes, no) => Object.assign(indexedDB.open(name), { onsuccess: (e) => yes(e.target.result), onerror: no }));
        for (const s of db.objectStoreNames) {
          const all = await new Promise((yes, no) => Object.assign(db.transaction(s).objectStore(s).getAll(), { onsuccess: (e) => yes(e.target.result), onerror: no }));
          out.databases.push([name, s, all]);
        }
        db.close();
      }
      for (const name of await caches.keys()) {
        const c = await caches.open(name);
        for (const r of await c.keys()) out.caches.push([name, r.url, await (await c.match(r)).text()]);
      }
      return out;
    });
    this.urls.add(this.page.url());
    return { ...stored, cookies: await this.context.cookies() };
  }

  /** Fails where a mark is in what the browser keeps, shows as address, or has logged. */
  async keepsNone(marks, when) {
    const places = { storage: JSON.stringify(await this.keeps()), addresses: [...this.urls].map(decodeURIComponent).join("\n"), console: this.said.join("\n") };
    for (const [place, text] of Object.entries(places)) assert.deepEqual(marksIn(text, marks), [], `${when}: ${place} of ${this.login} holds marks`);
    assert.deepEqual(this.kept, [], `${when}: answers that may be kept`);
  }

  /** Nothing went wrong that a person does not see. What failed because it was refused or the server was away is for the page to say. */
  quiet(but = /Failed to load resource|net::ERR_/) {
    assert.deepEqual(
      this.said.filter((s) => !s.startsWith("verbose: ") && !but.test(s)),
      [],
      `the console of ${this.login}`,
    );
  }

  async close() {
    await this.context.close();
  }
}

/** Which marks a text holds. */
export const marksIn = (text, marks) => marks.filter((m) => text.includes(m));

/** Files under dir that hold a mark, as bytes or as UTF-16. */
export function filesWith(dir, marks) {
  const wanted = marks.flatMap((m) => [Buffer.from(m), Buffer.from(m, "utf16le")]);
  const found = [];
  for (const f of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!f.isFile()) continue;
    const name = path.join(f.parentPath, f.name);
    const b = fs.readFileSync(name);
    if (wanted.some((m) => b.includes(m)) || marks.some((m) => f.name.includes(m))) found.push(path.relative(dir, name));
  }
  return found;
}
