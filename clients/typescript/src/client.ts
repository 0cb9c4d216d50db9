/** The hand-made part: one place that sends, repeats what is safe to repeat, reads refusals, and walks lists. */

import { AfterwordError, ApiError, Disconnected, errorOf } from "./errors.js";
import { Operations } from "./operations.js";
import type { Options, Transport } from "./transport.js";

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const BACKOFF_MS = 250;
const WAIT_MS_MAX = 60_000;
const EARLY_MS = 60_000; // a token is renewed so long before it ends
const PAGE_ROWS = 100;
const REPEATED = new Set([429, 502, 503, 504]);

/** Client credentials (OAuth 2): the id and the whole text of a token of kind `organization`. */
export interface Credentials {
  clientId: string;
  clientSecret: string;
  /** Lower-case names, space-separated, such as `queue.create`; without: all of the token's. */
  scope?: string;
}

export interface ClientOptions {
  token?: string;
  credentials?: Credentials;
  timeoutMs?: number;
  retries?: number;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
  /** In place of a timer, for tests. */
  wait?: (milliseconds: number) => Promise<void>;
}

/** An answer as it came: for those who need its headers (`etag`, `ratelimit-remaining`, `x-request-id`). */
export interface Reply<T> {
  status: number;
  headers: Headers;
  body: T;
}

/**
 * The API of one installation.
 *
 * Every call is safe to repeat: a POST carries an Idempotency-Key, made here unless it is given. So connections that
 * break, 429, 502, 503 and 504 are tried again up to `retries` times, after the service's Retry-After or a growing,
 * random pause. Throws ApiError for refusals, Disconnected when no answer came. A time without a zone is one of the
 * organization's own zone.
 */
export class Client extends Operations {
  readonly #sender: Sender;

  constructor(url: string, options: ClientOptions) {
    const sender = new Sender(url, options);
    super(sender);
    this.#sender = sender;
  }

  /** Sends one request below `/v3.2`, and gives the answer with its headers. */
  request<T = unknown>(method: string, path: string, options: Options = {}, body?: unknown): Promise<Reply<T>> {
    return this.#sender.request<T>(method, path, options, body);
  }
}

class Sender implements Transport {
  readonly #url: string;
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;
  #token: string;
  #tokenUntil = Infinity;

  constructor(url: string, options: ClientOptions) {
    if (!options.token === !options.credentials) throw new TypeError("Give a token or credentials.");
    if (!/^https?:\/\/[^/]/.test(url)) {
      throw new TypeError(`An address such as https://survey.example.com is expected, not ${url}.`);
    }
    this.#url = url.replace(/\/+$/, "").replace(/\/v3\.2$/, "");
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#token = options.token ?? "";
    if (options.credentials) this.#tokenUntil = 0;
  }

  async send<T>(method: string, path: string, options?: Options, body?: unknown, mediaType?: string): Promise<T> {
    return (await this.request<T>(method, path, options, body, mediaType)).body;
  }

  async request<T>(
    method: string,
    path: string,
    options: Options = {},
    body?: unknown,
    mediaType?: string,
  ): Promise<Reply<T>> {
    const { idempotencyKey, ifMatch, ...query } = options;
    const headers: Record<string, string> = {};
    if (method === "POST") headers["Idempotency-Key"] = idempotencyKey ?? crypto.randomUUID();
    if (ifMatch !== undefined) headers["If-Match"] = ifMatch;
    if (body !== undefined) headers["Content-Type"] = mediaType ?? "application/json";
    const content = body === undefined ? undefined : mediaType ? (body as BodyInit) : JSON.stringify(body);
    const response = await this.#repeat(method, this.#target(path, query), headers, content);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : undefined) as T };
  }

  async *pages<T>(path: string, options: Options = {}): AsyncGenerator<T> {
    const query: Options = { limit: PAGE_ROWS, ...options };
    for (;;) {
      const reply = await this.request<T[] | { results: T[] }>("GET", path, query);
      yield* Array.isArray(reply.body) ? reply.body : reply.body.results;
      const next = /<([^>]*)>;\s*rel="next"/.exec(reply.headers.get("link") ?? "")?.[1];
      if (next === undefined) return;
      query.cursor = new URL(next, this.#url).searchParams.get("cursor");
    }
  }

  async *stream(path: string, options: Options = {}): AsyncGenerator<Uint8Array> {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const restart = (): void => { // the limit is one for each piece: a file may take longer
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), this.#options.timeoutMs ?? TIMEOUT_MS);
    };
    try {
      restart();
      const response = await this.#once("GET", this.#target(path, options), {}, undefined, stop.signal);
      if (!response.ok) throw errorOf(response.status, await response.text());
      const reader = response.body?.getReader();
      for (;;) {
        restart();
        const piece = await reader?.read();
        clearTimeout(timer);
        if (piece === undefined || piece.done) return;
        yield piece.value;
      }
    } catch (error) {
      throw error instanceof AfterwordError ? error : new Disconnected("The connection broke.", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #repeat(
    method: string,
    target: string,
    headers: Record<string, string>,
    content: BodyInit | undefined,
  ): Promise<Response> {
    for (let tries = 0; ; ) {
      let pause = BACKOFF_MS * 2 ** tries * (0.5 + Math.random() / 2);
      let refusal: AfterwordError;
      try {
        const response = await this.#once(method, target, headers, content);
        if (response.ok) return response;
        const found = errorOf(response.status, await response.text());
        // an earlier try removed it, its answer was lost
        if (tries && method === "DELETE" && found.status === 404) return new Response(null, { status: 204 });
        if (!this.#isWorthAnotherTry(found)) throw found;
        pause = Math.max(pause, 1000 * Number(response.headers.get("retry-after") ?? 0) || 0);
        refusal = found;
      } catch (error) {
        if (error instanceof AfterwordError && !(error instanceof Disconnected)) throw error;
        refusal = error instanceof Disconnected ? error : new Disconnected("No answer came.", { cause: error });
      }
      tries += 1;
      if (tries > (this.#options.retries ?? RETRIES) || pause > WAIT_MS_MAX) throw refusal;
      await (this.#options.wait ?? wait)(pause);
    }
  }

  async #once(
    method: string,
    target: string,
    headers: Record<string, string>,
    content: BodyInit | undefined,
    signal = AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS),
  ): Promise<Response> {
    const authorization = `Bearer ${await this.#bearer()}`;
    return this.#fetch(target, {
      method,
      headers: { ...headers, Authorization: authorization },
      ...(content === undefined ? {} : { body: content }),
      signal,
      redirect: "error",
    });
  }

  #isWorthAnotherTry(refusal: ApiError): boolean {
    if (refusal.code === "token_expired" && this.#options.credentials) {
      this.#tokenUntil = 0;
      return true;
    }
    return REPEATED.has(refusal.status) || refusal.code === "idempotency_in_progress";
  }

  async #bearer(): Promise<string> {
    const credentials = this.#options.credentials;
    if (credentials && Date.now() > this.#tokenUntil - EARLY_MS) {
      const form = new URLSearchParams({ grant_type: "client_credentials" });
      if (credentials.scope !== undefined) form.set("scope", credentials.scope);
      const response = await this.#fetch(`${this.#url}/oauth/token`, {
        method: "POST",
        body: form,
        headers: { Authorization: `Basic ${btoa(`${credentials.clientId}:${credentials.clientSecret}`)}` },
        signal: AbortSignal.timeout(this.#options.timeoutMs ?? TIMEOUT_MS),
        redirect: "error",
      });
      const text = await response.text();
      if (!response.ok) throw errorOf(response.status, text);
      const granted = JSON.parse(text) as { access_token: string; expires_in: number };
      this.#token = granted.access_token;
      this.#tokenUntil = Date.now() + 1000 * granted.expires_in;
    }
    return this.#token;
  }

  #target(path: string, query: Record<string, unknown>): string {
    const pairs = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => [...pairsOf(name, value)]));
    return `${this.#url}/v3.2${path}${pairs.size ? `?${pairs}` : ""}`;
  }
}

/** `filter_by[EQUAL][StatusId]=1`, `order_by[DESC][]=SendTime`: names as the service nests them. */
function* pairsOf(name: string, value: unknown): Generator<[string, string]> {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) for (const inner of value) yield* pairsOf(`${name}[]`, inner);
  else if (value instanceof Date) yield [name, value.toISOString()];
  else if (typeof value === "object")
    for (const [key, inner] of Object.entries(value)) yield* pairsOf(`${name}[${key}]`, inner);
  else yield [name, String(value)];
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
