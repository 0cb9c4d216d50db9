/** What the generated operations send their requests through. */

/** `{ EQUAL: { StatusId: 1 }, IN: { Locale: ["el", "de"] } }`, as in the API's reference. */
export type Filters = Record<string, Record<string, unknown>>;

/** `{ DESC: ["SendTime"] }`. */
export type Orders = Record<string, string[]>;

/** `idempotencyKey` and `ifMatch` are headers; everything else is part of the query. */
export interface Options {
  idempotencyKey?: string;
  ifMatch?: string;
  limit?: number;
  [name: string]: unknown;
}

export interface Transport {
  /** Sends one request and gives the body of its answer. */
  send<T>(method: string, path: string, options?: Options, body?: unknown, mediaType?: string): Promise<T>;

  /** Every entry of a list, page by page. */
  pages<T>(path: string, options?: Options): AsyncGenerator<T>;

  /** The bytes of a file, as they come. */
  stream(path: string, options?: Options): AsyncGenerator<Uint8Array>;
}

/** Operations that belong together. */
export class Family {
  constructor(protected readonly transport: Transport) {}
}

/** A text as one segment of a path. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`An id is expected, not "${text}".`); // addresses leave these out
  return encodeURIComponent(text);
}
