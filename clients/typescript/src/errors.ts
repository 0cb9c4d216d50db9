/** Errors of a call: refusals of the service, each with its stable code, and answers that never came. */

/** One wrong field: where it is (a JSON pointer, a query parameter or a header), a stable code, a sentence. */
export interface FieldProblem {
  code: string;
  message: string;
  pointer?: string | null;
  parameter?: string | null;
  header?: string | null;
}

/** Everything that this client throws for a call. */
export class AfterwordError extends Error {
  override name = "AfterwordError";
}

/** No answer came, in all tries. Whether a change was made is not known; repeating the call is safe. */
export class Disconnected extends AfterwordError {
  override name = "Disconnected";
}

/** A refusal (RFC 9457). `code` is stable, `detail` is a sentence for people, `errors` names every wrong field. */
export class ApiError extends AfterwordError {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly errors: readonly FieldProblem[] = [],
    readonly requestId: string | null = null,
    readonly requiredScopes: readonly string[] = [],
  ) {
    const unsaid = errors.filter((one) => !detail.includes(one.message));
    const wrong = unsaid.map((one) => ` ${one.pointer ?? one.parameter ?? one.header ?? "body"}: ${one.message}`);
    super(`${status} ${code}: ${detail}${wrong.join("")}`);
  }
}

interface Problem {
  code?: unknown;
  detail?: unknown;
  errors?: unknown;
  request_id?: unknown;
  required_scopes?: unknown;
}

/** The error for a refusal; a body that is no problem document (a proxy's page) still gives one. */
export function errorOf(status: number, body: string): ApiError {
  let problem: Problem | null = null;
  try {
    problem = JSON.parse(body) as Problem | null;
  } catch {
    // a proxy's page
  }
  if (typeof problem !== "object" || problem === null || typeof problem.code !== "string") {
    return new ApiError(status, "unknown", "The answer did not come from Afterword.");
  }
  return new ApiError(
    status,
    problem.code,
    typeof problem.detail === "string" ? problem.detail : "The service refused without a reason.",
    Array.isArray(problem.errors) ? (problem.errors as FieldProblem[]) : [],
    typeof problem.request_id === "string" ? problem.request_id : null,
    Array.isArray(problem.required_scopes) ? (problem.required_scopes as string[]) : [],
  );
}
