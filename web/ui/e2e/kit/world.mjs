// An installation of the program of its own: a payer, a data directory, accounts, a process that serves, on free ports of this machine.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs/promises";
import path from "node:path";

/** Whom every world has, one a role and a second analyst. */
export const people = { ada: "admin", olga: "operator", ana: "analyst", bea: "analyst", abe: "approver", vic: "viewer" };

/** How long anything may take. A machine may be busy: nothing is measured by it. */
export const patience = Number(process.env.PATIENCE || 120_000);

/** The password of everybody. */
export const password = "a sentence for a test 42";

export class World {
  #children = new Set();
  #first = {};
  #sessions = new Map();
  #port = 0;
  constructor(program, dir) {
    this.program = program;
    this.dir = dir;
    this.data = path.join(dir, "data");
    /** Everything that the serving process has printed. */
    this.log = "";
  }

  /** Makes one and starts it. rules are lines of the payer's script. */
  static async begin(program, dir, { rules = [], more = "" } = {}) {
    const w = new World(program, dir);
    await fs.mkdir(dir, { recursive: true });
    const payer = await w.#start(["payersim", "--listen", "127.0.0.1:0", ...rules.flatMap((r) => ["--rule", r])], /http:\/\/[0-9.:]+/);
    w.payer = payer.said[0];
    w.more = more;
    for (const [login, role] of Object.entries(people)) {
      w.#first[login] = JSON.parse(await w.run("users", "add", login, "--role", role, "--reason", "test", "--json")).password;
    }
    await w.serve();
    return w;
  }

  /** Starts the process that serves, at the address of the one before. */
  async serve() {
    const conf = path.join(this.dir, "claimdlq.yaml");
    await fs.writeFile(
      conf,
      [
        `data: ${this.data}`,
        `listen: 127.0.0.1:${this.#port}`,
        "streams:",
        "  ncpdp:",
        `    target: ${this.payer}/v1/ncpdp`,
        "    policy: {base: 100ms, cap: 1s}",
        '  "837":',
        `    target: ${this.payer}/v1/interchanges`,
        "alarms:",
        "  every: 1s",
        this.more,
        "",
      ].join("\n"),
    );
    const s = await this.#start(["serve", "--config", conf], /http:\/\/[0-9.]+:(\d+)(?=\/v1\/claims)/, (b) => (this.log += b));
    this.base = s.said[0];
    this.#port = Number(s.said[1]);
    this.server = s.child;
    // Sessions ended with the process before.
    this.#sessions.clear();
  }

  /** Ends the serving process as a power cut does. */
  async kill() {
    const gone = once(this.server, "exit");
    this.server.kill("SIGKILL");
    await gone;
  }

  async end() {
    await Promise.all(
      [...this.#children].map(async (c) => {
        if (c.exitCode !== null || c.signalCode !== null) return;
        const gone = once(c, "exit");
        c.kill("SIGTERM");
        const late = setTimeout(() => c.kill("SIGKILL"), 20_000);
        await gone;
        clearTimeout(late);
      }),
    );
  }

  #env() {
    // The serving process refuses variables that it does not know.
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith("CLAIMDLQ_")));
    return env;
  }

  async #start(args, ready, heard = () => {}) {
    const child = spawn(this.program, args, { cwd: this.dir, env: this.#env(), stdio: ["ignore", "pipe", "pipe"] });
    this.#children.add(child);
    let all = "";
    const said = await new Promise((yes, no) => {
      const late = setTimeout(() => no(new Error(`claimdlq ${args[0]} does not begin:\n${all}`)), patience);
      const hear = (b) => {
        all += b;
        heard(String(b));
        const m = ready.exec(all);
        if (m) {
          clearTimeout(late);
          yes(m);
        }
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.on("exit", (code) => no(new Error(`claimdlq ${args[0]} ended with ${code}:\n${all}`)));
    });
    return { child, said };
  }

  /** Runs a command to its end and returns what it printed. */
  async run(...args) {
    const child = spawn(this.program, args, { cwd: this.dir, env: { ...this.#env(), CLAIMDLQ_DATA: this.data }, stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (b) => (out += b));
    child.stderr.on("data", (b) => (err += b));
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`claimdlq ${args.join(" ")}: exit ${code}\n${out}${err}`);
    return out;
  }

  /** Generates claims with these flags and hands them in. */
  async claims(...flags) {
    const file = path.join(this.dir, `claims-${randomUUID()}`);
    await this.run("generate", "--output", file, ...flags);
    await this.hand("/v1/claims/batch", await fs.readFile(file));
    await fs.rm(file);
  }

  /** Hands one pharmacy claim in as a dead letter of another pipeline. */
  async deadLetter(first, query, ...flags) {
    const file = path.join(this.dir, `dead-${randomUUID()}`);
    await this.run("generate", "--format", "ncpdp", "--claims", "1", "--first-claim", String(first), "--output", file, ...flags);
    await this.hand(`/v1/dead-letters?${query}`, await fs.readFile(file));
    await fs.rm(file);
  }

  async hand(at, body) {
    const r = await fetch(this.base + at, { method: "POST", body });
    const said = await r.text();
    if (!r.ok) throw new Error(`${at}: ${r.status} ${said}`);
  }

  /** One call of the API as somebody; his first password is changed on the way. */
  async as(login, method, at, body, headers = {}) {
    if (!this.#sessions.has(login)) await this.enter(login);
    return this.#call(login, method, at, body, headers);
  }

  async #call(login, method, at, body, headers = {}) {
    const key = randomUUID();
    let r;
    // A busy machine may be too slow for what has to be durable in time: nothing is changed then, and it is tried again.
    for (const end = Date.now() + patience; ; ) {
      r = await fetch(this.base + at, {
        method,
        headers: { Origin: this.base, "Content-Type": "application/json", "Idempotency-Key": key, Cookie: this.#sessions.get(login) ?? "", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (r.status !== 503 || Date.now() > end) break;
      await r.text();
      await new Promise((f) => setTimeout(f, 200));
    }
    const set = r.headers.getSetCookie().map((c) => c.split(";")[0]);
    if (set.length > 0) this.#sessions.set(login, set.join("; "));
    const said = await r.text();
    if (!r.ok) throw Object.assign(new Error(`${login}: ${method} ${at}: ${r.status} ${said}`), { status: r.status });
    return said ? JSON.parse(said) : null;
  }

  /** Signs somebody in at the API and gives him the password of everybody. */
  async enter(login) {
    const first = this.#first[login];
    await this.#call(login, "POST", "/v1/session", { login, password: first ?? password });
    if (first !== undefined) {
      await this.#call(login, "PUT", "/v1/session/password", { old: first, new: password });
      delete this.#first[login];
    }
  }

  /** The password somebody has not chosen himself, if he still has it. */
  firstPassword(login) {
    return this.#first[login];
  }

  /** Somebody whom an administrator has let in, with the password that he was handed. */
  newcomer(login, first) {
    this.#first[login] = first;
  }

  chosen(login) {
    delete this.#first[login];
  }

  /** Every entry of the audit log that the query selects. */
  async audit(query) {
    const all = [];
    for (let cursor = ""; ; ) {
      const page = await this.as("ada", "GET", `/v1/audit?limit=1000&${new URLSearchParams({ ...query, ...(cursor ? { cursor } : {}) })}`);
      all.push(...page.entries);
      cursor = page.next_cursor ?? "";
      if (!cursor) return all;
    }
  }

  /** All records that the query selects. */
  async records(query) {
    const all = [];
    for (let cursor = ""; ; ) {
      const page = await this.as("olga", "GET", `/v1/records?limit=1000&${new URLSearchParams({ ...query, ...(cursor ? { cursor } : {}) })}`);
      all.push(...page.records);
      cursor = page.next_cursor ?? "";
      if (!cursor) return all;
    }
  }

  /** A record as it is now. */
  async record(id) {
    return (await this.as("olga", "GET", `/v1/records/${id}`)).record;
  }

  /** Gives the payer another script. */
  async payerPlays(...rules) {
    const r = await fetch(`${this.payer}/v1/script`, { method: "PUT", body: rules.join("\n") });
    if (!r.ok) throw new Error(`the payer's script: ${r.status} ${await r.text()}`);
  }

  async ofPayer(at) {
    return (await fetch(`${this.payer}/v1/${at}`)).json();
  }

  /** Waits until something is so. */
  async until(what, is) {
    for (const end = Date.now() + patience; ; ) {
      if (await is()) return;
      if (Date.now() > end) throw new Error(`${what}: it does not happen`);
      await new Promise((r) => setTimeout(r, 100));
    }
  }
}
