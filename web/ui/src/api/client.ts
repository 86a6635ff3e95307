import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** A refusal or failure as the API says it (RFC 9457). It never holds a value of a claim. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
  /** Of who is not signed in: there is a provider to sign in through. */
  readonly singleSignOn: boolean;
  readonly faults: { location?: string; message: string }[];
  constructor(status: number, body: Partial<Schemas["Problem"]>) {
    super(body.detail || body.title || `HTTP ${status}`);
    this.status = status;
    this.code = body.code ?? "internal";
    this.detail = body.detail ?? body.title ?? "";
    this.hint = body.hint ?? "";
    this.singleSignOn = body.single_sign_on ?? false;
    this.faults = body.errors ?? [];
  }
}

/** Whether the server does not answer, or something before it answers for it. */
export const away = (e: unknown): boolean => e instanceof Problem && (e.status === 0 || (e.status >= 502 && e.status <= 504));

/** What is told when the session has ended, so that the page can ask to sign in and stay where it is. */
export const signedOut = new EventTarget();

let asked = Date.now();
/** When somebody last asked for something himself: the session ends 15 minutes after it. */
export const lastAsked = (): number => asked;

const watch: Middleware = {
  onRequest({ request }) {
    if (!request.headers.has("Claimdlq-Background")) asked = Date.now();
  },
  onResponse({ response, request }) {
    if (response.status === 401 && !(request.method === "POST" && new URL(request.url).pathname === "/v1/session")) {
      signedOut.dispatchEvent(new Event("out"));
    }
  },
};

export const api = createClient<paths>({ baseUrl: location.origin, credentials: "same-origin" });
api.use(watch);

/** Takes the answer out of what the client returns, or throws the Problem. */
export async function got<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let r;
  try {
    r = await call;
  } catch {
    throw new Problem(0, { code: "unavailable", detail: "The server cannot be reached.", hint: "Nothing was lost; what you sent may have arrived. Look before you try again." });
  }
  if (r.error !== undefined || !r.response.ok) {
    throw new Problem(r.response.status, (r.error ?? {}) as Partial<Schemas["Problem"]>);
  }
  return r.data as T;
}

/** A new Idempotency-Key. Make it once for each thing a person means, not for each try to send it. */
export const newKey = (): string => crypto.randomUUID();

/** The header of requests that nobody asked for, such as refreshes: they do not keep the session from ending. */
export const background = { "Claimdlq-Background": "1" };

/** The ETag of a record. */
export const etag = (revision: number): string => `"${revision}"`;
