export { Client } from "./client.js";
export type { ClientOptions, Credentials, Reply } from "./client.js";
export { AfterwordError, ApiError, Disconnected } from "./errors.js";
export type { FieldProblem } from "./errors.js";
export type * as models from "./models.js";
export type { Filters, Options, Orders } from "./transport.js";
