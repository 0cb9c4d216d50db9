import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
  IN8nHttpFullResponse,
} from "n8n-workflow";

type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions;

export interface Sent {
  qs?: IDataObject;
  body?: IDataObject;
}

/** Sends one request below `/v3.2` with the credentials of the node. */
export async function send(
  context: Context,
  method: IHttpRequestMethods,
  path: string,
  sent: Sent = {},
): Promise<IN8nHttpFullResponse> {
  const { url } = await context.getCredentials<{ url: string }>("afterwordApi");
  const options: IHttpRequestOptions = {
    method,
    url: `${url.replace(/\/+$/, "")}/v3.2${path}`,
    json: true,
    returnFullResponse: true,
    ...sent,
  };
  return context.helpers.httpRequestWithAuthentication.call(context, "afterwordApi", options);
}

/** The entries of a list, page by page, at most `count` of them. */
export async function list(context: Context, path: string, count: number, qs: IDataObject = {}): Promise<IDataObject[]> {
  const found: IDataObject[] = [];
  let cursor: string | null = "";
  while (cursor !== null && found.length < count) {
    const query: IDataObject = { ...qs, limit: Math.min(100, count - found.length), ...(cursor ? { cursor } : {}) };
    const { body, headers } = await send(context, "GET", path, { qs: query });
    found.push(...(Array.isArray(body) ? body : (body as { results: IDataObject[] }).results));
    const next: string | undefined = /<([^>]*)>;\s*rel="next"/.exec(String(headers.link ?? ""))?.[1];
    cursor = next === undefined ? null : new URL(next, "https://afterword").searchParams.get("cursor");
  }
  return found;
}

/** An id as one segment of a path. */
export function segment(id: unknown): string {
  return encodeURIComponent(String(id));
}
