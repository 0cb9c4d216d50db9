/** Requests and answers of the API; generated from its OpenAPI document by generate.py. */

/** One of these values, or one that a newer service knows. */
export type Open<Known extends string> = Known | (string & {});

/** The address to write to: an e-mail address, a phone number, or the web address of a webhook's receiver. */
export interface AccountTestRequest {
  responder_channel_identifier: string;
}

/** The outcome; codes that were in the pool already are not added. */
export interface AddedCodes {
  added: number;
  known: number;
}

/** A rule over responses, or over figures, with the initial values of the cases that it opens. */
export interface Alert {
  alert_id: string;
  organization_id: string;
  application_id: string;
  title: string;
  description: string | null;
  questionnaire_ids: Array<string>;
  trigger: Open<"call_back" | "completed" | "schedule" | "submitted">;
  conditions: Record<string, unknown> | null;
  severity: Open<"critical" | "high" | "low" | "normal">;
  active: boolean;
  status_id: number;
  assigned_user_id: string | null;
  due_hours: number | null;
  fold_hours: number;
  subscriber_user_ids: Array<string>;
  chat_ids: Array<string>;
  escalation_hours: number | null;
  escalation_severity: Open<"critical" | "high" | "low" | "normal"> | null;
  escalation_user_id: string | null;
  assignment: Assignment | null;
  chat_urls: Array<string>;
  open_count: number;
  last_triggered_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A user who may take cases. */
export interface AlertAssignee {
  user_id: string;
  email: string;
  display_name: string | null;
  open_cases: number;
  created_time: string;
}

/** A comment on a case; `user_id` is null for a token of the organization. */
export interface AlertComment {
  comment_id: string;
  alert_instance_id: string;
  user_id: string | null;
  body: string;
  created_time: string;
  updated_time: string;
}

/** A comment on a case. */
export interface AlertCommentRequest {
  body: string;
}

/** The new text of the caller's own comment. */
export interface AlertCommentUpdate {
  body?: string;
}

/** The open cases that this age would escalate at once. */
export interface AlertEscalation {
  alert_id: string;
  escalation_hours: number;
  open_cases: number;
}

/** One thing that happened in a case. `changes`: what changed, each with `from` and `to`; `body`: of a comment. */
export interface AlertHistoryEntry {
  history_id: string;
  alert_instance_id: string;
  kind: string;
  user_id: string | null;
  body: string | null;
  changes: Record<string, unknown>;
  created_time: string;
}

/** A case that an alert opened. Its response is null if a daily figure opened it. `call_back_number` and `call_back_note`, the customer's words, are null without the scope `Responder.Read`. */
export interface AlertInstance {
  alert_instance_id: string;
  alert_id: string;
  questionnaire_id: string | null;
  instance_id: string | null;
  responder_id: string | null;
  status_id: number;
  assigned_user_id: string | null;
  severity: Open<"critical" | "high" | "low" | "normal">;
  due_time: string | null;
  occurrences: number;
  matched: Array<LeafResult>;
  comments_count: number;
  resolved_time: string | null;
  resolved_by: string | null;
  recovery_item_id: string | null;
  waiting: boolean;
  waiting_since: string | null;
  due_left_seconds: number | null;
  call_back_time: string | null;
  call_back_number: string | null;
  call_back_until_time: string | null;
  call_back_note: string | null;
  call_back_requested_time: string | null;
  cause: string | null;
  remedy: string | null;
  in_time: boolean | null;
  work_seconds: number | null;
  recovery_instance_id: string | null;
  recovery_time: string | null;
  recovered: boolean | null;
  escalated_time: string | null;
  created_time: string;
  updated_time: string;
  updated_by: string | null;
}

/** Changes of a case. */
export interface AlertInstanceUpdate {
  status_id?: number;
  assigned_user_id?: string | null;
  severity?: "critical" | "high" | "low" | "normal";
  due_time?: Moment | null;
  waiting?: boolean;
  call_back_time?: Moment | null;
  call_back_number?: string | null;
  cause?: string | null;
  remedy?: string | null;
}

/** The mailbox in which answers of customers arrive, and how its reading goes. Without `host` nobody reads it. */
export interface AlertMailbox {
  organization_id: string;
  address: string | null;
  host: string | null;
  security: Open<"starttls" | "tls">;
  port: number;
  username: string | null;
  folder: string;
  has_password: boolean;
  read_time: string | null;
  mail_count: number | null;
  problem: string | null;
  problem_time: string | null;
  server_reply: string | null;
  answer_count: number;
  answer_time: string | null;
  skipped_count: number;
  updated_time: string;
  updated_by: string | null;
}

/** Changes of the mailbox. `password` is stored sealed, and shown to nobody. */
export interface AlertMailboxUpdate {
  address?: string | null;
  host?: string | null;
  security?: "starttls" | "tls";
  port?: number;
  username?: string | null;
  password?: string | null;
  folder?: string;
}

/** A mail between an agent and the customer of a case. */
export interface AlertMessage {
  message_id: string;
  alert_instance_id: string;
  incoming: boolean;
  user_id: string | null;
  address: string;
  subject: string;
  body: string;
  state: string;
  error: string | null;
  created_time: string;
  finished_time: string | null;
  whole: string | null;
  other_sender: boolean;
}

/** A reply to the customer by mail, and changes of the case that go with it. */
export interface AlertMessageRequest {
  subject: string;
  body: string;
  waiting?: boolean;
  status_id?: number;
  cause?: string | null;
  remedy?: string | null;
}

/** Of the newest `responses`, since `from_time`, `matched` would have been matched. */
export interface AlertPreview {
  responses: number;
  matched: number;
  from_time: string | null;
  owners: Array<AlertPreviewOwner>;
}

/** The cases that a user would own; null: nobody. */
export interface AlertPreviewOwner {
  user_id: string | null;
  cases: number;
}

/** The part of a rule that decides which responses it matches. */
export interface AlertPreviewRequest {
  application_id: string;
  questionnaire_ids?: Array<string>;
  trigger?: "completed" | "submitted";
  conditions?: Record<string, unknown> | null;
  assigned_user_id?: string | null;
  assignment?: Assignment | null;
}

/** The message by which the customer of a case is asked again; `item_id` is null before it is asked for. */
export interface AlertRecovery {
  alert_instance_id: string;
  questionnaire_id: string;
  pipeline_id: string;
  item_id: string | null;
  planned_time: string | null;
  reason: string | null;
}

/** A new rule. No `questionnaire_ids`: all of the application; no `conditions`: every response. */
export interface AlertRequest {
  application_id: string;
  title: string;
  description?: string | null;
  questionnaire_ids?: Array<string>;
  trigger?: "call_back" | "completed" | "schedule" | "submitted";
  conditions?: Record<string, unknown> | null;
  severity?: "critical" | "high" | "low" | "normal";
  active?: boolean;
  status_id?: number;
  assigned_user_id?: string | null;
  due_hours?: number | null;
  fold_hours?: number;
  subscriber_user_ids?: Array<string>;
  chat_ids?: Array<string>;
  escalation_hours?: number | null;
  escalation_severity?: "critical" | "high" | "low" | "normal" | null;
  escalation_user_id?: string | null;
  assignment?: Assignment | null;
  chat_urls?: Array<string>;
}

/** Business hours in the organization's time zone, by ISO weekdays, 1 is Monday; and what cases offer to choose. */
export interface AlertSettings {
  organization_id: string;
  weekdays: Array<number>;
  start_time: string | null;
  end_time: string | null;
  closed_on_holidays: boolean;
  causes: Array<string>;
  remedies: Array<string>;
  saved_texts: Array<SavedText>;
  recovery_questionnaire_id: string | null;
  updated_time: string;
  updated_by: string | null;
}

/** Changes of the settings; a list is replaced as a whole. */
export interface AlertSettingsUpdate {
  weekdays?: Array<number>;
  start_time?: string | null;
  end_time?: string | null;
  closed_on_holidays?: boolean;
  causes?: Array<string>;
  remedies?: Array<string>;
  saved_texts?: Array<SavedText>;
  recovery_questionnaire_id?: string | null;
}

/** The status of a case. `closing`: a case in it is done. `system`: the product's own, which cannot be changed. */
export interface AlertStatus {
  status_id: number;
  title: string;
  description: string | null;
  color: string;
  closing: boolean;
  application_id: string | null;
  position: number;
  system: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new status of the organization, or of one application. */
export interface AlertStatusRequest {
  title: string;
  color: string;
  description?: string | null;
  closing?: boolean;
  application_id?: string | null;
  position?: number;
}

/** Changes of an own status; `closing` only while no alert or case has it. */
export interface AlertStatusUpdate {
  title?: string;
  color?: string;
  description?: string | null;
  closing?: boolean;
  position?: number;
}

/** Changes of a rule; existing cases stay as they are. */
export interface AlertUpdate {
  title?: string;
  description?: string | null;
  questionnaire_ids?: Array<string>;
  trigger?: "call_back" | "completed" | "schedule" | "submitted";
  conditions?: Record<string, unknown> | null;
  severity?: "critical" | "high" | "low" | "normal";
  active?: boolean;
  status_id?: number;
  assigned_user_id?: string | null;
  due_hours?: number | null;
  fold_hours?: number;
  subscriber_user_ids?: Array<string>;
  chat_ids?: Array<string>;
  escalation_hours?: number | null;
  escalation_severity?: "critical" | "high" | "low" | "normal" | null;
  escalation_user_id?: string | null;
  assignment?: Assignment | null;
  chat_urls?: Array<string>;
}

/** The anonymity of a questionnaire, and the answers to it that nobody can see yet. */
export interface Anonymity {
  anonymous: boolean;
  waiting_count: number;
  together_min: number;
}

/** A shop, brand or product of the organization; it owns questionnaires. */
export interface Application {
  application_id: string;
  organization_id: string;
  application_type_id: string;
  display_name: string;
  description: string | null;
  time_zone: string | null;
  default_locale: string | null;
  website_urls: Array<string>;
  brand: Record<string, unknown>;
  active: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new application. Without a type it is `custom`. */
export interface ApplicationRequest {
  display_name: string;
  application_type_id?: string;
  description?: string | null;
  time_zone?: string | null;
  default_locale?: string | null;
  website_urls?: Array<string>;
  brand?: Record<string, unknown>;
  active?: boolean;
}

/** A kind of business; all but `custom` bring metadata definitions of their own. */
export interface ApplicationType {
  application_type_id: string;
  name: string;
  title: string;
  description: string;
}

/** Changes of an application. */
export interface ApplicationUpdate {
  display_name?: string;
  description?: string | null;
  time_zone?: string | null;
  default_locale?: string | null;
  website_urls?: Array<string>;
  brand?: Record<string, unknown>;
  active?: boolean;
}

/** A picture as it was encoded again. `path` is the value of `logo` in visuals. */
export interface Asset {
  asset_id: string;
  title: string | null;
  media_type: string;
  width: number;
  height: number;
  bytes: number;
  path: string;
  url: string;
  created_time: string;
  created_by: string | null;
}

/** Owners of new cases by the value of a field, as conditions name it; `user_ids`: for all other cases. Of several users the one with the fewest open cases gets it. */
export interface Assignment {
  subject?: string | null;
  choices?: Array<AssignmentChoice>;
  user_ids?: Array<string>;
}

/** The users for cases whose field has this value. */
export interface AssignmentChoice {
  value: string;
  user_ids: Array<string>;
}

/** One attempt to send an item; `outcome` is null while it is under way. */
export interface Attempt {
  attempt: number;
  begin_time: string;
  finish_time: string | null;
  channel_id: number;
  outcome: Open<"accepted" | "accepted_late" | "refused" | "retry" | "throttled" | "unknown"> | null;
  reply_code: number | null;
  reply: string | null;
  provider_reference: string | null;
}

/** An act. Names are those of today; `before` and `after` have what changed, long and secret values as a dash. */
export interface AuditEntry {
  entry_id: string;
  created_time: string;
  actor_kind: Open<"command" | "system" | "token" | "user">;
  actor_id: string | null;
  actor_name: string | null;
  actor_role: string | null;
  action: string;
  thing_kind: string;
  thing_id: string | null;
  thing_name: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  device: string | null;
  network: string | null;
}

/** A filter of items by their `send_time` and more. A missing member filters nothing, an unknown one is refused. */
export interface BatchFilter {
  reason?: string | null;
  pipeline_id?: string | null;
  questionnaire_id?: string | null;
  application_id?: string | null;
  from_time?: Moment | null;
  to_time?: Moment | null;
  import_id?: string | null;
}

/** The outcomes of all rows, in their order. */
export interface BatchResult {
  results: Array<BatchRow>;
  created: number;
  updated: number;
  failed: number;
}

/** The outcome of one row: 201 created, 200 changed or left as it was, 409 or 422 refused. */
export interface BatchRow {
  row: number;
  status: number;
  item_id: string | null;
  external_reference: string | null;
  problem: Record<string, unknown> | null;
}

/** Changes of the billing: countries by ISO 3166-1, currencies by ISO 4217. */
export interface BillingUpdate {
  name?: string;
  address_lines?: Array<string>;
  city?: string | null;
  postal_code?: string | null;
  country?: string | null;
  tax_number?: string | null;
  email?: string | null;
  purchase_reference?: string | null;
  currency?: string;
}

/** When a website shows the link in a box. The first trigger opens it. */
export interface Box {
  delay_seconds?: number | null;
  scroll_percent?: number | null;
  on_exit?: boolean;
  click_selector?: string | null;
  addresses?: Array<string>;
  share_percent?: number;
  again_days?: number;
  position?: "center" | "corner";
}

/** The work on the cases of one group. */
export interface CaseCounts {
  key: string | null;
  title: string | null;
  opened: number;
  closed: number;
  in_time: CaseShare;
  median_hours: number | null;
  measured: number;
  answered: number;
  won_back: CaseShare;
}

/** The work on cases in a period: each counts as opened, closed and asked again by the time when it was. */
export interface CaseFigures {
  from_time: string;
  to_time: string;
  group_by: Open<"alert" | "cause" | "day" | "month" | "owner" | "quarter" | "remedy" | "severity" | "status" | "week"> | null;
  total: CaseCounts;
  rows: Array<CaseCounts>;
  truncated: boolean;
}

/** `hits` of `n` cases in percent, with the interval of 95 %; null of no case. */
export interface CaseShare {
  hits: number;
  n: number;
  value: number | null;
  low: number | null;
  high: number | null;
}

/** The difference from the period before; `real` where p is below 0.05. */
export interface Change {
  previous: number;
  difference: number;
  z: number | null;
  p: number | null;
  method: string;
  real: boolean;
}

/** A chat that is told of cases and gets reports. Its address is a secret: stored sealed, and shown to nobody. */
export interface Chat {
  chat_id: string;
  title: string;
  kind: string;
  host: string;
  comments: boolean;
  locale: string;
  active: boolean;
  sent_time: string | null;
  problem: string | null;
  disabled_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new chat. `address` is the incoming webhook that it gives, at a host of its `kind`. */
export interface ChatRequest {
  title: string;
  kind: "google_chat" | "mattermost" | "slack" | "teams" | "webhook";
  address?: string | null;
  comments?: boolean;
  locale?: "de" | "el" | "en" | "es" | "fr" | "it";
  active?: boolean;
}

/** Changes of a chat; `active` true switches one on again that failures switched off. */
export interface ChatUpdate {
  title?: string;
  address?: string | null;
  comments?: boolean;
  locale?: "de" | "el" | "en" | "es" | "fr" | "it";
  active?: boolean;
}

/** The result of one rule. */
export interface Check {
  rule: string;
  passed: boolean;
  detail: string | null;
  until_time: string | null;
  leaves: Array<LeafResult>;
}

/** One choice of a question; `other` adds a text field, `exclusive` excludes all other choices. */
export interface Choice {
  value: number;
  label: string;
  other: boolean;
  exclusive: boolean;
  points?: number;
  picture?: string;
}

/** The comments of a group. */
export interface CommentGroup {
  value: string | null;
  n: number;
  words: Array<CommentWord>;
}

/** A word, and the comments that have it. */
export interface CommentWord {
  word: string;
  text: string;
  n: number;
}

/** The words of comments, those that most have first. */
export interface CommentWords {
  n: number;
  from_time: string | null;
  suppressed: boolean;
  words: Array<CommentWord>;
  groups: Array<CommentGroup>;
  suppressed_groups: number;
}

/** Conditions to test on a response; without conditions every response matches. */
export interface ConditionTest {
  instance_id: string;
  conditions?: Record<string, unknown> | null;
}

/** The result of the conditions, and of each comparison in them. */
export interface ConditionTestResult {
  matches: boolean;
  leaves: Array<LeafResult>;
}

/** The contact policy over all pipelines: how often people are asked, and days without sending. */
export interface ContactPolicy {
  organization_id: string;
  enabled: boolean;
  invitations_max: number;
  window_days: number;
  response_window_days: number | null;
  per_channel: boolean;
  count_reminders: boolean;
  if_exceeded: string;
  quiet_start_time: string | null;
  quiet_end_time: string | null;
  holiday_country: string | null;
  holidays: Array<string>;
  updated_time: string;
  updated_by: string | null;
}

/** The whole policy; what is left out has its default. */
export interface ContactPolicyRequest {
  enabled?: boolean;
  invitations_max?: number;
  window_days?: number;
  response_window_days?: number | null;
  per_channel?: boolean;
  count_reminders?: boolean;
  if_exceeded?: "skip" | "wait";
  quiet_start_time?: string | null;
  quiet_end_time?: string | null;
  holiday_country?: string | null;
  holidays?: Array<string>;
}

/** The contrast of a colour with its background, and of the colour that pages show in its place. */
export interface Contrast {
  subject: Open<"button" | "link" | "text">;
  scheme: Open<"dark" | "light">;
  color: string;
  background: string;
  ratio: number;
  shown: string;
  shown_ratio: number;
  is_enough: boolean;
}

/** A tag of the organization, and the number of its responses. */
export interface CountedTag {
  tag: string;
  count: number;
  is_part: boolean;
}

/** A code, and the response that has it. */
export interface CouponCode {
  code: string;
  instance_id: string | null;
  responder_id: string | null;
  given_time: string | null;
  created_time: string;
}

/** Codes to add to a pool. */
export interface CouponCodes {
  codes: Array<string>;
}

/** A pool of codes, of which a complete response gets at most one. */
export interface CouponPool {
  pool_id: string;
  key: string;
  title: string;
  low_count: number;
  free_count: number;
  given_count: number;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new pool. Endings name it by its `key`. */
export interface CouponPoolRequest {
  key: string;
  title: string;
  low_count?: number;
}

/** Changes of a pool. */
export interface CouponPoolUpdate {
  key?: string;
  title?: string;
  low_count?: number;
}

/** The host of an organization's public pages; links lead there while it is `active`. */
export interface CustomDomain {
  organization_id: string;
  host: string;
  url: string;
  state: Open<"active" | "lost" | "pending" | "proven">;
  record_name: string;
  record_value: string;
  target: string;
  problem: Open<"in_use" | "not_asked" | "not_reached" | "record_missing"> | null;
  proven_time: string | null;
  reached_time: string | null;
  lost_time: string | null;
  checked_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The host of an organization's public pages. */
export interface CustomDomainRequest {
  host: string;
}

/** A saved report. */
export interface CustomReport {
  report_id: string;
  organization_id: string;
  application_id: string | null;
  title: string;
  description: string | null;
  spec: SpecShown;
  pinned: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A report to be saved. */
export interface CustomReportRequest {
  title: string;
  spec: ReportSpec;
  description?: string | null;
  application_id?: string | null;
}

/** The members of a report that may change; the spec as a whole. */
export interface CustomReportUpdate {
  title?: string;
  description?: string | null;
  spec?: ReportSpec;
  pinned?: boolean;
}

/** The content of a questionnaire: groups with their questions, and texts by language. A group, question, row or ending without its id is given one; `translations` has the questionnaire's own `title` and `description` in other languages. `docs/questionnaires.md` describes all of it. */
export interface Definition {
  default_locale: string;
  groups: Array<Record<string, unknown>>;
  locales?: Array<string>;
  pages?: Record<string, Record<string, unknown>>;
  translations?: Record<string, Record<string, unknown>>;
  endings?: Array<Record<string, unknown>>;
  anonymous?: boolean;
}

/** One event for one endpoint, and its outcome. `response_excerpt` is plain text, whatever type the target names. */
export interface Delivery {
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  event_type: string;
  state: Open<"dead" | "delivered" | "pending">;
  attempts: number;
  response_status: number | null;
  duration_ms: number | null;
  response_excerpt: string | null;
  error: string | null;
  next_attempt_time: string | null;
  finished_time: string | null;
  created_time: string;
}

/** One change; `path` points into the later definition, and into the earlier one where something is gone. */
export interface Difference {
  kind: string;
  sentence: string;
  path: string;
  group_id: string | null;
  question_id: string | null;
  locale: string | null;
  member: string | null;
  before: unknown;
  after: unknown;
}

/** A record of a domain. `found`: the texts that stand at `name`; `record`: the text to set, if it can be known. */
export interface DomainFinding {
  kind: Open<"dkim" | "dmarc" | "spf">;
  state: Open<"good" | "missing" | "unknown" | "weak" | "wrong">;
  code: string;
  message: string;
  name: string;
  found: Array<string>;
  record: string | null;
}

/** A response with signs of a machine or of haste. */
export interface DoubtfulResponse {
  instance_id: string;
  questionnaire_id: string;
  link_id: string | null;
  submitted_time: string;
  flags: Array<Open<"automated" | "burst" | "hidden_field" | "many_links" | "one_network" | "provisional" | "speeding" | "straight_lining" | "too_fast">>;
  state: Open<"accepted" | "held" | "marked" | "rejected">;
}

/** A definition that is edited until it is published. */
export interface Draft {
  questionnaire_id: string;
  base_version_id: string | null;
  revision: number;
  definition: Record<string, unknown>;
  problems: Array<Problem>;
  length_seconds: number;
  screens: number;
  updated_time: string;
  updated_by: string | null;
}

/** The addresses of the answer page of a draft, and of its invitation mail. */
export interface DraftPreview {
  url: string;
  mail_url: string;
  expires_time: string;
}

/** The view of the draft. */
export interface DraftPreviewRequest {
  locale?: string | null;
  question_id?: string | null;
  ending_id?: string | null;
  responder_id?: string | null;
  brand?: Record<string, unknown> | null;
  brand_level?: "application" | "organization";
}

/** An erasure: its request, its progress and, once done, its proof: counts, times and a checksum. */
export interface Erasure {
  erasure_id: string;
  responder_id: string;
  mode: Open<"anonymize" | "erase">;
  suppress: boolean;
  reason: string | null;
  state: Open<"done" | "running">;
  counts: Record<string, number>;
  requested_time: string;
  finished_time: string | null;
  requested_by: string | null;
  checksum: string | null;
}

/** The mode of an erasure. */
export interface ErasureRequest {
  mode?: "anonymize" | "erase";
  suppress?: boolean;
  reason?: string | null;
}

/** A change. `data` is the changed resource after it; `cursor` its position in the log, for `after`. */
export interface Event {
  event_id: string;
  cursor: string;
  type: string;
  created_time: string;
  organization_id: string;
  application_id: string | null;
  questionnaire_id: string | null;
  subject_id: string | null;
  subject_version: number | null;
  actor: EventActor;
  test: boolean;
  data: Record<string, unknown>;
}

/** The author of a change: its kind and id. */
export interface EventActor {
  kind: Open<"gateway" | "responder" | "token" | "user" | "worker">;
  id: string | null;
}

/** An export, and how far it has come. */
export interface Export {
  export_id: string;
  questionnaire_id: string | null;
  format: Open<"csv" | "jsonl" | "parquet" | "sav" | "xlsx">;
  from_time: string | null;
  to_time: string | null;
  date_basis: Open<"completed" | "sent" | "submitted">;
  filter: Record<string, unknown> | null;
  locale: string | null;
  values: Open<"both" | "codes" | "labels">;
  include_metadata: boolean;
  include_incomplete: boolean;
  include_recipient: boolean;
  byte_order_mark: boolean;
  since_cursor: string | null;
  state: Open<"cancelled" | "done" | "expired" | "failed" | "queued" | "running">;
  progress: number;
  row_count: number | null;
  bytes: number | null;
  checksum: string | null;
  file_name: string | null;
  error: string | null;
  next_cursor: string | null;
  created_time: string;
  finished_time: string | null;
  expires_time: string | null;
  created_by: string | null;
  selected_count: number | null;
}

/** The outcome: `problem` is null where a small file was written and removed. */
export interface ExportCheck {
  problem: string | null;
  reply: string | null;
  host_key: string | null;
  fingerprint: string | null;
}

/** The content of a file. It holds responses whose time of `date_basis` lies in the period. */
export interface ExportRequest {
  format: "csv" | "jsonl" | "parquet" | "sav" | "xlsx";
  locale?: string | null;
  values?: "both" | "codes" | "labels";
  include_metadata?: boolean;
  include_recipient?: boolean;
  byte_order_mark?: boolean;
  from_time?: Moment | null;
  to_time?: Moment | null;
  date_basis?: "completed" | "sent" | "submitted";
  filter?: Record<string, unknown> | null;
  include_incomplete?: boolean;
  since_cursor?: string | null;
}

/** A run: the days that changed, and how many of them are written. */
export interface ExportRun {
  run_id: string;
  schedule_id: string;
  state: Open<"cancelled" | "done" | "failed" | "queued" | "running">;
  day_count: number | null;
  days_written: number;
  file_count: number;
  row_count: number;
  bytes: number;
  error: string | null;
  reply: string | null;
  started_time: string | null;
  created_time: string;
  finished_time: string | null;
  created_by: string | null;
}

/** The responses of a questionnaire, which a worker writes to a store by a timetable, and how that goes. */
export interface ExportSchedule {
  schedule_id: string;
  title: string;
  questionnaire_id: string;
  active: boolean;
  every: Open<"daily" | "hourly" | "weekly">;
  day: number;
  hour: number;
  format: Open<"csv" | "parquet" | "sav">;
  locale: string | null;
  filter: Record<string, unknown> | null;
  include_incomplete: boolean;
  include_metadata: boolean;
  include_recipient: boolean;
  destination: Open<"folder" | "s3" | "sftp">;
  path: string;
  endpoint: string | null;
  bucket: string | null;
  region: string | null;
  access_key: string | null;
  host: string | null;
  port: number | null;
  username: string | null;
  host_key: string | null;
  has_secret: boolean;
  next_time: string | null;
  last_time: string | null;
  problem: string | null;
  problem_time: string | null;
  reply: string | null;
  failures: number;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** What is exported, where to and when. `secret` is stored sealed, and shown to nobody. */
export interface ExportScheduleRequest {
  title: string;
  questionnaire_id: string;
  destination: "folder" | "s3" | "sftp";
  path: string;
  active?: boolean;
  every?: "daily" | "hourly" | "weekly";
  day?: number;
  hour?: number;
  format?: "csv" | "parquet" | "sav";
  locale?: string | null;
  filter?: Record<string, unknown> | null;
  include_incomplete?: boolean;
  include_metadata?: boolean;
  include_recipient?: boolean;
  endpoint?: string | null;
  bucket?: string | null;
  region?: string | null;
  access_key?: string | null;
  host?: string | null;
  port?: number | null;
  username?: string | null;
  host_key?: string | null;
  secret?: string | null;
}

/** Changes of a schedule. Another destination, filter or format lets the next run write all of it. */
export interface ExportScheduleUpdate {
  title?: string;
  path?: string;
  active?: boolean;
  every?: "daily" | "hourly" | "weekly";
  day?: number;
  hour?: number;
  format?: "csv" | "parquet" | "sav";
  locale?: string | null;
  filter?: Record<string, unknown> | null;
  include_incomplete?: boolean;
  include_metadata?: boolean;
  include_recipient?: boolean;
  endpoint?: string | null;
  bucket?: string | null;
  region?: string | null;
  access_key?: string | null;
  host?: string | null;
  port?: number | null;
  username?: string | null;
  host_key?: string | null;
  secret?: string | null;
}

/** One number with its unit, base, interval and method. */
export interface Figure {
  metric: string;
  value: number | null;
  unit: string;
  n: number | null;
  base: string;
  population: number | null;
  interval: Interval | null;
  method: string;
  scale: string | null;
  parts: Record<string, number> | null;
  suppressed: boolean;
  suppressed_reason: Open<"few_pairs" | "few_people"> | null;
  change: Change | null;
}

/** The fate of one thing of a file. */
export interface FileLine {
  kind: Open<"condition" | "ending" | "question" | "setting" | "text">;
  outcome: Open<"changed" | "left_out" | "taken">;
  whole: boolean;
  place: string;
  title: string;
  sentences: Array<string>;
}

/** A page of a search. One that is not full may have others behind its `next_cursor`, which is null at the end. */
export interface FoundResponses {
  results: Array<Response>;
  next_cursor: string | null;
}

/** A group of questions: one page. */
export interface Group {
  group_id: string;
  questionnaire_id: string;
  version_id: string | null;
  position: number;
  questions_count: number;
  title: string | null;
  description: string | null;
  display_name: string | null;
  enabled: boolean;
  translations: Record<string, GroupTranslation>;
}

/** The role of the people in a group. */
export interface GroupRole {
  group: string;
  role: "admin" | "agent" | "reporting";
}

/** A group's texts in another language; an absent text falls back to the default locale. */
export interface GroupTranslation {
  title?: string;
  description?: string;
}

/** The provider of an organization, by OpenID Connect. `client_secret` is never shown. */
export interface IdentityProvider {
  organization_id: string;
  issuer: string;
  client_id: string;
  has_client_secret: boolean;
  scopes: Array<string>;
  groups_claim: string;
  group_roles: Array<GroupRole>;
  default_role: Open<"admin" | "agent" | "reporting"> | null;
  trusts_addresses: boolean;
  checked_time: string | null;
  problem: string | null;
  return_url: string;
  login_url: string;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The provider of an organization, by OpenID Connect. */
export interface IdentityProviderRequest {
  issuer: string;
  client_id: string;
  client_secret?: string | null;
  scopes?: Array<string>;
  groups_claim?: string;
  group_roles?: Array<GroupRole>;
  default_role?: "admin" | "agent" | "reporting" | null;
  trusts_addresses?: boolean;
}

/** A file of items, and how far it has come. */
export interface Import {
  import_id: string;
  questionnaire_id: string;
  pipeline_id: string;
  file_name: string | null;
  dry_run: boolean;
  state: Open<"cancelled" | "done" | "failed" | "queued" | "running">;
  rows_total: number;
  rows_created: number;
  rows_updated: number;
  rows_skipped: number;
  rows_failed: number;
  rows_repeated: number;
  rows_left_out: number;
  reasons: Record<string, number>;
  first_time: string | null;
  error: string | null;
  created_time: string;
  finished_time: string | null;
  created_by: string | null;
}

/** The outcome of a row, counted from 1 after the header, and the line of the file on which it begins. */
export interface ImportRow {
  row: number;
  line: number | null;
  state: Open<"created" | "failed" | "skipped" | "updated">;
  reason: string | null;
  item_id: string | null;
  external_reference: string | null;
  problem: Record<string, unknown> | null;
}

/** An address where the provider of an account reports. `secret` signs reports in our own form, shown this once. `confirm_url` confirms the subscription of a topic: open it yourself, it is never called. */
export interface Inbound {
  inbound_id: string;
  account_id: string;
  channel_id: number;
  adapter: Open<"provider" | "sns" | "standard">;
  url: string;
  secret: string | null;
  confirm_url: string | null;
  last_time: string | null;
  created_time: string;
}

/** An address to open. `topic` (its ARN) and `certificate` (PEM) are pinned, and `sns` alone has them. */
export interface InboundRequest {
  account_id: string;
  adapter: "provider" | "sns" | "standard";
  topic?: string | null;
  certificate?: string | null;
}

/** The questionnaire as the responder sees it, in the instance's language. */
export interface InstanceContent {
  instance_id: string;
  questionnaire_id: string;
  version_id: string;
  locale: string;
  direction: string;
  title: string | null;
  description: string | null;
  groups: Array<Record<string, unknown>>;
  pages: Record<string, string | null>;
  visual: Record<string, unknown> | null;
  expires_time: string | null;
  open: boolean;
}

/** An instance to issue; every member is optional. */
export interface InstanceRequest {
  responder_id?: string | null;
  locale?: string | null;
  valid_days?: number | null;
  editable?: boolean | null;
  sent_time?: Moment | null;
  delivered_time?: Moment | null;
  metadata?: MetadataGroups | null;
  reference_id?: string | null;
}

/** The members of an instance that may change, in every state. */
export interface InstanceUpdate {
  responder_id?: string;
  locale?: string;
  valid_days?: number;
  editable?: boolean;
  metadata?: Record<string, string | Record<string, string | null> | null>;
}

/** The addresses of the answer page, and the time when it expires. */
export interface InstanceUrl {
  instance_id: string;
  collection_url: string;
  collection_url_short: string;
  collection_url_long: string;
  expires_time: string | null;
}

/** An instance with its children: those issued because of it, of any questionnaire, and so on. */
export interface InstanceWithChildren {
  instance_id: string;
  questionnaire_id: string;
  responder_id: string;
  locale: string;
  valid_days: number;
  editable: boolean;
  finalized: boolean;
  created_time: string;
  updated_time: string;
  sent_time: string | null;
  delivered_time: string | null;
  viewed_time: string | null;
  submitted_time: string | null;
  completed_time: string | null;
  collection_url: string;
  question_ids: string;
  processed_time: string | null;
  flow_time: string | null;
  created_by: string | null;
  updated_by: string | null;
  full_quota_id: string | null;
  anonymity: Open<"invitation" | "response"> | null;
  collection_url_short: string;
  collection_url_long: string;
  children: Array<InstanceWithChildren>;
}

/** The range that holds the value of all customers, with the confidence `level`. */
export interface Interval {
  low: number;
  high: number;
  level: number;
}

/** A mail that is on its way. Its link works once, until `expires_time`. */
export interface Invitation {
  user_id: string;
  email: string;
  expires_time: string;
}

/** A judgement of responses that were held back. */
export interface JudgementRequest {
  instance_ids: Array<string>;
  judgement: "accepted" | "rejected";
}

/** The outcome of a judgement. */
export interface JudgementResult {
  count: number;
}

/** A jump to a question if the conditions hold (null: always); without a target, to the end. */
export interface Jump {
  target_question_id: string | null;
  conditions: Record<string, unknown> | null;
}

/** When a device that stands in a shop begins again for the next person. */
export interface Kiosk {
  idle_seconds?: number;
  thanks_seconds?: number;
  layout?: "by_question" | "one_page";
}

/** The operands and the result of one comparison. */
export interface LeafResult {
  subject: string;
  operator: string;
  value: unknown;
  actual: unknown;
  matches: boolean;
}

/** Data that is kept whatever its age, of a person or of the whole organization. */
export interface LegalHold {
  hold_id: string;
  responder_id: string | null;
  reason: string;
  created_time: string;
  created_by: string | null;
}

/** A new legal hold. Without a responder it covers the whole organization. */
export interface LegalHoldRequest {
  reason: string;
  responder_id?: string | null;
}

/** A questionnaire that comes with the product. */
export interface LibraryEntry {
  library_name: string;
  display_name: string;
  title: string;
  description: string;
  note: Record<string, string>;
  default_locale: string;
  locales: Array<string>;
  questions_count: number;
  length_seconds: number;
  screens: number;
}

/** A questionnaire of the library with all its questions. */
export interface LibraryQuestionnaire {
  library_name: string;
  display_name: string;
  title: string;
  description: string;
  note: Record<string, string>;
  default_locale: string;
  locales: Array<string>;
  questions_count: number;
  length_seconds: number;
  screens: number;
  definition: Record<string, unknown>;
}

/** The form of a file, and the responses in it: those of a search. */
export interface ListExportRequest {
  format: "csv" | "jsonl" | "parquet" | "sav" | "xlsx";
  locale?: string | null;
  values?: "both" | "codes" | "labels";
  include_metadata?: boolean;
  include_recipient?: boolean;
  byte_order_mark?: boolean;
  filter?: ResponseFilter;
}

/** Conditions on how people and tokens come in. */
export interface LoginPolicy {
  organization_id: string;
  requires_second_factor: boolean;
  requires_provider: boolean;
  console_networks: Array<string>;
  token_networks: Array<string>;
  updated_time: string | null;
  updated_by: string | null;
}

/** Conditions on how people and tokens come in. Conditions that are left out are lifted. */
export interface LoginPolicyRequest {
  requires_second_factor?: boolean;
  requires_provider?: boolean;
  console_networks?: Array<string>;
  token_networks?: Array<string>;
}

/** One row of a matrix; its answer is one of the choices. */
export interface MatrixRow {
  row_id: string;
  label: string;
}

/** The texts of a message in one language. A mail alone has a button, a reason and a footer. */
export interface MessageTexts {
  body: string;
  subject?: string | null;
  button?: string | null;
  reason?: string | null;
  footer?: string | null;
}

/** A declared name; those of level `global` belong to the product and are read-only. */
export interface MetadataDefinition {
  metadata_id: string;
  kind: Open<"questionnaire" | "responder">;
  name: string;
  title: string;
  type: Open<"boolean" | "date" | "number" | "text">;
  anonymize: boolean;
  level: Open<"application" | "application_type" | "global" | "organization">;
  application_id: string | null;
  application_type_id: string | null;
  read_only: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A name to declare. */
export interface MetadataDefinitionRequest {
  name: string;
  title: string;
  type: "boolean" | "date" | "number" | "text";
  anonymize?: boolean;
  level?: "application" | "application_type" | "organization";
  application_id?: string | null;
  application_type_id?: string | null;
}

/** The members of a definition that may change; its type may not, because values are compared by it. */
export interface MetadataDefinitionUpdate {
  title?: string;
  anonymize?: boolean;
}

/** Metadata of the questionnaire and of the responder. */
export interface MetadataGroups {
  questionnaire?: Record<string, string | null>;
  responder?: Record<string, string | null>;
}

/** A metric of a spec. */
export interface MetricShown {
  metric: string;
  question_id: string | null;
}

/** A metric. Without a question, nps, csat and ces are of all questions of their type. */
export interface MetricWanted {
  metric: "ces" | "completion" | "csat" | "mean" | "nps" | "response";
  question_id?: string | null;
}

/** ISO 8601 with or without offset (then local in the organization's zone), not before 1970, at most five years ahead. */
export type Moment = string;

/** A notification of an event to a user. `link` is the API path of its subject. */
export interface Notification {
  notification_id: string;
  user_id: string;
  event_id: string;
  type: string;
  title: string;
  body: string;
  link: string | null;
  read: boolean;
  read_time: string | null;
  created_time: string;
}

/** The subscription of a user: types of events and watched things. A type that is not named has its default. */
export interface NotificationSubscription {
  user_id: string;
  types: Record<string, NotificationWays>;
  watches: Array<NotificationWatch>;
  digest: Open<"daily" | "none" | "weekly">;
  updated_time: string;
}

/** The whole subscription of a user; members that are left out get their defaults. */
export interface NotificationSubscriptionRequest {
  types?: Record<string, NotificationWays>;
  watches?: Array<NotificationWatch>;
  digest?: "daily" | "none" | "weekly";
}

/** Marks a notification as read, or as unread. */
export interface NotificationUpdate {
  read?: boolean;
}

/** A watched thing. */
export interface NotificationWatch {
  entity: "alert" | "application" | "organization" | "questionnaire" | "user";
  entity_id: string;
}

/** The channels of one type of event. */
export interface NotificationWays {
  web: boolean;
  email: boolean;
}

/** A customer of the installation: the tenant. */
export interface Organization {
  organization_id: string;
  domain: string;
  display_name: string;
  legal_name: string | null;
  postal_address: string | null;
  default_locale: string;
  locales: Array<string>;
  brand: Record<string, unknown>;
  time_zone: string;
  minimum_base: number;
  first_weekday: number;
  click_answers: boolean;
  accepts_provisional: boolean;
  anonymize_after_days: number | null;
  delete_after_days: number | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The recipient of an organization's bills. */
export interface OrganizationBilling {
  organization_id: string;
  name: string;
  address_lines: Array<string>;
  city: string | null;
  postal_code: string | null;
  country: string | null;
  tax_number: string | null;
  email: string | null;
  purchase_reference: string | null;
  currency: string;
  updated_time: string;
  updated_by: string | null;
}

/** Changes of an organization. */
export interface OrganizationUpdate {
  display_name?: string;
  legal_name?: string | null;
  postal_address?: string | null;
  default_locale?: string;
  locales?: Array<string>;
  brand?: Record<string, unknown>;
  time_zone?: string;
  minimum_base?: number;
  first_weekday?: number;
  click_answers?: boolean;
  accepts_provisional?: boolean;
  anonymize_after_days?: number | null;
  delete_after_days?: number | null;
}

/** A kept message with its content. */
export interface OutboxContent {
  message_id: string;
  item_id: string | null;
  channel_id: number;
  pipeline_id: string | null;
  responder_channel_identifier: string;
  subject: string | null;
  text: string;
  html: string | null;
  collection_url: string | null;
  test: boolean;
  created_time: string;
}

/** A message that was kept in place of being sent. */
export interface OutboxMessage {
  message_id: string;
  channel_id: number;
  pipeline_id: string | null;
  responder_channel_identifier: string;
  subject: string | null;
  test: boolean;
  created_time: string;
}

/** A step of a trend, from its first day on. */
export interface OverviewBin {
  bucket: string;
  figure: Figure;
}

/** A score of all questionnaires together; its `change` is against as many days before. */
export interface OverviewScore {
  figure: Figure;
  bins: Array<OverviewBin>;
  of_all?: Figure | null;
}

/** A response that was given elsewhere. One of the times is needed. */
export interface PastResponse {
  external_id: string;
  answers: Record<string, unknown> | Array<Record<string, unknown>>;
  started_time?: Moment | null;
  completed_time?: Moment | null;
  channel_id?: 1 | 2 | 3 | null;
  locale?: string | null;
  metadata?: MetadataGroups | null;
  person?: Person | null;
}

/** The outcome of one row: 201 created, 200 there already, 409 or 422 refused. */
export interface PastResponseRow {
  row: number;
  status: number;
  instance_id: string | null;
  external_id: string | null;
  problem: Record<string, unknown> | null;
}

/** The outcomes of all rows, in their order. */
export interface PastResponsesResult {
  response_import_id: string | null;
  results: Array<PastResponseRow>;
  created: number;
  unchanged: number;
  failed: number;
}

/** The reason is shown to people who ask why a message waits. */
export interface PauseRequest {
  reason: string;
}

/** The time that a report covers. */
export interface PeriodShown {
  from_time: string;
  to_time: string;
  time_zone: string;
  date_basis: string;
}

/** Whoever gave the response: found by the first of these that is known, else made with all of them. */
export interface Person {
  email?: string | null;
  phone_number?: string | null;
  external_id?: string | null;
}

/** A pipeline: how and when the items of a questionnaire are sent. */
export interface Pipeline {
  pipeline_id: string;
  questionnaire_id: string;
  application_id: string;
  channel_id: number;
  title: string;
  description: string | null;
  template_pipeline_id: string | null;
  locale: string | null;
  delay_cap_minutes: number;
  delay_cap_hours: number;
  delay_cap_days: number;
  delay_from: string | null;
  frequency_cap_minutes: number;
  frequency_cap_hours: number;
  frequency_cap_days: number;
  message_subject: string | null;
  message_body: string | null;
  message_button: string | null;
  message_reason: string | null;
  message_footer: string | null;
  messages: Record<string, Record<string, string | null>>;
  start_time: string | null;
  end_time: string | null;
  dispatch_start_time: string | null;
  dispatch_end_time: string | null;
  time_zone: string | null;
  zone_of: string;
  weekdays: Array<number>;
  conditions: Record<string, unknown> | null;
  sender_name: string | null;
  sender_address: string | null;
  reply_to: string | null;
  max_retry_attempts: number;
  not_after_days: number;
  priority: number;
  paused: boolean;
  if_outside: string;
  if_capped: string;
  policy_exempt: boolean;
  on_holidays: string;
  reminders: Array<Record<string, unknown>>;
  target_url: string | null;
  state: Open<"ended" | "paused" | "running" | "upcoming">;
  summary: string;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A clause of the pipeline's sentences that a version changed. `before`: what it said, where that is known. */
export interface PipelineChange {
  part: string;
  after: string;
  before: string | null;
}

/** A new pipeline. What is left out is copied from `template_pipeline_id`, else has its default. */
export interface PipelineRequest {
  description?: string | null;
  locale?: string | null;
  delay_cap_minutes?: number;
  delay_cap_hours?: number;
  delay_cap_days?: number;
  delay_from?: string | null;
  frequency_cap_minutes?: number;
  frequency_cap_hours?: number;
  frequency_cap_days?: number;
  message_subject?: string | null;
  message_body?: string | null;
  message_button?: string | null;
  message_reason?: string | null;
  message_footer?: string | null;
  messages?: Record<string, MessageTexts>;
  start_time?: Moment | null;
  end_time?: Moment | null;
  dispatch_start_time?: string | null;
  dispatch_end_time?: string | null;
  time_zone?: string | null;
  zone_of?: "organization" | "recipient";
  weekdays?: Array<number>;
  conditions?: Record<string, unknown> | null;
  sender_name?: string | null;
  sender_address?: string | null;
  reply_to?: string | null;
  max_retry_attempts?: number;
  not_after_days?: number;
  priority?: number;
  paused?: boolean;
  if_outside?: "skip" | "wait";
  if_capped?: "skip" | "wait";
  policy_exempt?: boolean;
  on_holidays?: "send" | "wait";
  reminders?: Array<Reminder>;
  target_url?: string | null;
  channel_id: 1 | 2 | 3 | 4 | 5;
  title: string;
  template_pipeline_id?: string | null;
}

/** Outcomes of the same invitations by the stored rules (`before`) and by the changed ones (`after`). */
export interface PipelineTrial {
  items: number;
  moved: number;
  outcomes: Array<TriedOutcome>;
}

/** The members that may change; `paused` true holds its items at once, false releases them. */
export interface PipelineUpdate {
  description?: string | null;
  locale?: string | null;
  delay_cap_minutes?: number;
  delay_cap_hours?: number;
  delay_cap_days?: number;
  delay_from?: string | null;
  frequency_cap_minutes?: number;
  frequency_cap_hours?: number;
  frequency_cap_days?: number;
  message_subject?: string | null;
  message_body?: string | null;
  message_button?: string | null;
  message_reason?: string | null;
  message_footer?: string | null;
  messages?: Record<string, MessageTexts>;
  start_time?: Moment | null;
  end_time?: Moment | null;
  dispatch_start_time?: string | null;
  dispatch_end_time?: string | null;
  time_zone?: string | null;
  zone_of?: "organization" | "recipient";
  weekdays?: Array<number>;
  conditions?: Record<string, unknown> | null;
  sender_name?: string | null;
  sender_address?: string | null;
  reply_to?: string | null;
  max_retry_attempts?: number;
  not_after_days?: number;
  priority?: number;
  paused?: boolean;
  if_outside?: "skip" | "wait";
  if_capped?: "skip" | "wait";
  policy_exempt?: boolean;
  on_holidays?: "send" | "wait";
  reminders?: Array<Reminder>;
  target_url?: string | null;
  title?: string;
}

/** A change of a pipeline, by whom, and in sentences; the oldest is its making. */
export interface PipelineVersion {
  version_id: string;
  created_time: string;
  actor_kind: string;
  actor_id: string | null;
  action: string;
  changes: Array<PipelineChange>;
}

/** Credits of the organization, or of one of its applications: one is used by each instance's first answer. */
export interface Plan {
  plan_id: string;
  organization_id: string;
  application_id: string | null;
  title: string;
  kind: Open<"monthly" | "once" | "unlimited">;
  credits: number | null;
  remaining_credits: number | null;
  extra_credits: number;
  features: Array<string>;
  state: Open<"active" | "cancelled" | "expired">;
  start_time: string;
  renew_time: string | null;
  end_time: string | null;
}

/** The message as it would be sent. `html` is null for other channels than e-mail, `segments` but for an SMS. */
export interface Preview {
  channel_id: number;
  locale: string;
  subject: string | null;
  text: string;
  html: string | null;
  segments: number | null;
  encoding: Open<"gsm7" | "ucs2"> | null;
}

/** A language (null: the item's, else the pipeline's), a reminder of the pipeline, and an item with its values. */
export interface PreviewRequest {
  locale?: string | null;
  reminder_number?: number | null;
  item_id?: string | null;
}

/** A problem of a definition at a JSON pointer; an `error` prevents publication. */
export interface Problem {
  path: string;
  severity: Open<"error" | "warning">;
  code: string;
  message: string;
}

/** The body of every refusal. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  message: string;
  error: string;
  instance: string;
  request_id: string;
  errors: Array<{ pointer?: string; parameter?: string; header?: string; code: Open<"required" | "wrong_type" | "not_nullable" | "too_short" | "too_long" | "too_few" | "too_many" | "out_of_range" | "invalid_format" | "invalid_date_time" | "leap_second" | "invalid_locale" | "invalid_address" | "unknown_id" | "unknown_value" | "unknown_column" | "unknown_criterion" | "unknown_field" | "unknown_scope" | "unknown_metadata" | "unknown_member" | "read_only" | "duplicate" | "ambiguous" | "erased" | "exclusive" | "invalid_cursor" | "cursor_expired" | "page_too_deep" | "malformed_header" | "idempotency_key_reused" | "already_exists" | "item_closed" | "item_in_dispatch">; message: string }>;
  required_scopes?: Array<string>;
}

/** An account at a provider. `settings` shows those without a secret, `secrets` the names of the others. `is_own`: the organization made it, and may change it. `rate` is today's, `rate_ceiling` its limit, both a second. `inbound_url` is where its provider reports, null where it reports over the connection or not at all. */
export interface Provider {
  account_id: string;
  organization_id: string;
  channel_id: number;
  kind: Open<"default" | "smpp" | "sms_http" | "sms_twilio" | "smtp" | "webhook">;
  title: string | null;
  is_default: boolean;
  is_own: boolean;
  state: Open<"active" | "paused" | "resting">;
  settings: Record<string, unknown>;
  secrets: Array<string>;
  rate: number | null;
  rate_ceiling: number | null;
  slots: number;
  pipelines: number;
  failures: number;
  resting_until: string | null;
  paused_time: string | null;
  paused_reason: string | null;
  inbound_url: string | null;
  created_time: string;
}

/** The records of the domains that an account sends from, at most five. */
export interface ProviderDns {
  account_id: string;
  domains: Array<SenderDomain>;
}

/** The newest 2,000 messages of 30 days that the account's pipelines sent, and reports of them. */
export interface ProviderHealth {
  account_id: string;
  sent: number;
  last_sent_time: string | null;
  bounces: ReportedShare;
  complaints: ReportedShare;
  slow_domains: Array<SlowDomain>;
}

/** A new account. `settings` as its kind has them; `rate_ceiling`: at most so many messages a second. */
export interface ProviderRequest {
  kind: "smpp" | "sms_http" | "sms_twilio" | "smtp" | "webhook";
  title: string;
  settings: Record<string, unknown>;
  is_default?: boolean;
  rate_ceiling?: number | null;
}

/** Changes of an account. `settings` that are not named stay, null removes one. */
export interface ProviderUpdate {
  title?: string;
  settings?: Record<string, unknown>;
  is_default?: boolean;
  rate_ceiling?: number | null;
}

/** An address at which anybody may answer a questionnaire, and what is stored with each response. */
export interface PublicLink {
  link_id: string;
  questionnaire_id: string;
  title: string;
  url: string;
  metadata: Record<string, string>;
  parameters: Array<string>;
  takes_reference: boolean;
  one_response_per: Open<"address" | "browser"> | null;
  opens_time: string | null;
  closes_time: string | null;
  responses_max: number | null;
  locale: string | null;
  active: boolean;
  box: Box | null;
  kiosk: Kiosk | null;
  has_kiosk_pin: boolean;
  state: Open<"off" | "open" | "over" | "scheduled">;
  responses_count: number;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new public link. */
export interface PublicLinkRequest {
  title: string;
  metadata?: Record<string, string | null>;
  parameters?: Array<string>;
  takes_reference?: boolean;
  one_response_per?: "address" | "browser" | null;
  opens_time?: Moment | null;
  closes_time?: Moment | null;
  responses_max?: number | null;
  locale?: string | null;
  active?: boolean;
  box?: Box | null;
  kiosk?: Kiosk | null;
  kiosk_pin?: string | null;
}

/** Changes of a public link. Its address and its questionnaire stay. */
export interface PublicLinkUpdate {
  title?: string;
  metadata?: Record<string, string | null>;
  parameters?: Array<string>;
  takes_reference?: boolean;
  one_response_per?: "address" | "browser" | null;
  opens_time?: Moment | null;
  closes_time?: Moment | null;
  responses_max?: number | null;
  locale?: string | null;
  active?: boolean;
  box?: Box | null;
  kiosk?: Kiosk | null;
  kiosk_pin?: string | null;
}

/** The author's note on the new version. */
export interface PublicationRequest {
  note?: string | null;
}

/** A question. Its type decides which members follow `jumps` and `translations`. */
export interface Question {
  question_id: string;
  group_id: string;
  questionnaire_id: string;
  version_id: string | null;
  position: number;
  type: Open<"address" | "ces" | "consent" | "contact" | "csat" | "date" | "date_time" | "file" | "matrix" | "multiple_choice" | "nps" | "number" | "ranking" | "rating" | "single_choice" | "smileys" | "statement" | "text" | "time" | "yes_no">;
  title: string;
  description: string | null;
  display_name: string | null;
  required: boolean;
  enabled: boolean;
  display_probability: number;
  randomize: boolean;
  low_label: string | null;
  high_label: string | null;
  jumps: Array<Jump>;
  translations: Record<string, QuestionTranslation>;
  show_if?: Record<string, unknown>;
  scored?: boolean;
  scale_min?: number;
  scale_max?: number;
  style?: Open<"dropdown" | "numbers" | "slider" | "stars">;
  rows?: Array<MatrixRow>;
  choices?: Array<Choice>;
  choices_min?: number;
  choices_max?: number | null;
  rank_max?: number | null;
  length_max?: number;
  multiline?: boolean;
  number_min?: number | null;
  number_max?: number | null;
  decimals?: number;
  date_min?: string | null;
  date_max?: string | null;
  contact_fields?: Array<Open<"city" | "country" | "email" | "name" | "phone" | "postal_code" | "preferred_time" | "region" | "street">>;
  file_types?: Array<Open<"document" | "pdf" | "picture" | "spreadsheet" | "text">>;
  files_max?: number;
  bytes_max?: number;
}

/** A question's texts in another language; an absent text falls back to the default locale. */
export interface QuestionTranslation {
  title?: string;
  description?: string;
  low_label?: string;
  high_label?: string;
  choices?: Record<string, string>;
  rows?: Record<string, string>;
}

/** A place where a question is used. */
export interface QuestionUse {
  kind: Open<"alert" | "ending" | "jump" | "key_question" | "report" | "sequence" | "show_if">;
  id: string;
  title: string;
}

/** A questionnaire; its content is in its groups and questions. */
export interface Questionnaire {
  questionnaire_id: string;
  owner_application_id: string;
  display_name: string;
  title: string | null;
  description: string | null;
  valid_days: number;
  editable: boolean;
  template_questionnaire_id: string | null;
  desktop_collapsed: boolean;
  non_collapsed_questions_count: number;
  key_question_id: string | null;
  credits_accountable: boolean;
  questionnaire_icon_url: string | null;
  default_locale: string;
  locales: Array<string>;
  active: boolean;
  public_link: boolean;
  responses_max: number | null;
  published_version_id: string | null;
  public_link_url: string;
  archived_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The report of a file for another system, by the things that it cannot hold. */
export interface QuestionnaireFileReport {
  format: string;
  lines: Array<FileLine>;
}

/** A questionnaire of another system as a draft. */
export interface QuestionnaireImport {
  questionnaire_id: string | null;
  format: string;
  questions_count: number;
  whole_questions_count: number;
  conditions_count: number;
  whole_conditions_count: number;
  left_out_count: number;
  lines: Array<FileLine>;
}

/** One issue of a questionnaire to a responder. */
export interface QuestionnaireInstance {
  instance_id: string;
  questionnaire_id: string;
  responder_id: string;
  locale: string;
  valid_days: number;
  editable: boolean;
  finalized: boolean;
  created_time: string;
  updated_time: string;
  sent_time: string | null;
  delivered_time: string | null;
  viewed_time: string | null;
  submitted_time: string | null;
  completed_time: string | null;
  collection_url: string;
  question_ids: string;
  processed_time: string | null;
  flow_time: string | null;
  created_by: string | null;
  updated_by: string | null;
  full_quota_id: string | null;
  anonymity: Open<"invitation" | "response"> | null;
  collection_url_short: string;
  collection_url_long: string;
}

/** A questionnaire to create; its draft holds the questions. */
export interface QuestionnaireRequest {
  owner_application_id: string;
  display_name: string;
  title?: string | null;
  description?: string | null;
  valid_days?: number;
  editable?: boolean;
  template_questionnaire_id?: string | null;
  library_name?: string | null;
  file?: string | null;
  desktop_collapsed?: boolean;
  non_collapsed_questions_count?: number;
  key_question_id?: string | null;
  credits_accountable?: boolean;
  questionnaire_icon_url?: string | null;
  default_locale?: string | null;
  active?: boolean;
  public_link?: boolean;
  responses_max?: number | null;
}

/** The members of a questionnaire that may change without a new version. */
export interface QuestionnaireUpdate {
  display_name?: string;
  title?: string | null;
  description?: string | null;
  valid_days?: number;
  editable?: boolean;
  desktop_collapsed?: boolean;
  non_collapsed_questions_count?: number;
  key_question_id?: string | null;
  credits_accountable?: boolean;
  questionnaire_icon_url?: string | null;
  active?: boolean;
  public_link?: boolean;
  responses_max?: number | null;
}

/** A metadata value of an instance; without a declaration `metadata_id` is null and `type` is text. */
export interface QuestionnaireValue {
  questionnaire_id: string;
  instance_id: string;
  metadata_id: string | null;
  name: string;
  type: string;
  value: string;
  created_time: string;
  updated_time: string;
}

/** A published version; it never changes. */
export interface QuestionnaireVersion {
  version_id: string;
  questionnaire_id: string;
  number: number;
  note: string | null;
  definition: Record<string, unknown>;
  checksum: string;
  published_time: string;
  published_by: string | null;
}

/** An act on many items, and how far it has come. */
export interface QueueBatch {
  batch_id: string;
  action: Open<"cancel" | "move" | "repeat" | "send_now">;
  dry_run: boolean;
  state: Open<"cancelled" | "done" | "failed" | "queued" | "running">;
  send_time: string | null;
  reason: string | null;
  application_id: string | null;
  questionnaire_id: string | null;
  pipeline_id: string | null;
  import_id: string | null;
  from_time: string | null;
  to_time: string | null;
  items_changed: number;
  items_held: number;
  items_skipped: number;
  items_refused: number;
  error: string | null;
  created_time: string;
  finished_time: string | null;
  created_by: string | null;
}

/** The items that are meant, and the act: cancel, move or send now those that wait, or repeat those that failed. */
export interface QueueBatchRequest {
  action: "cancel" | "move" | "repeat" | "send_now";
  filter?: BatchFilter;
  send_time?: Moment | null;
  dry_run?: boolean;
}

/** Items of one status and reason. */
export interface QueueCount {
  status_id: number;
  reason: string | null;
  count: number;
  is_capped: boolean;
}

/** Waiting items that become due within an hour. */
export interface QueueHour {
  hour: string;
  count: number;
  is_capped: boolean;
}

/** A questionnaire that is to be sent, is being sent or was sent to one address. */
export interface QueueItem {
  item_id: string;
  previous_item_id: string | null;
  questionnaire_id: string;
  responder_id: string | null;
  responder_channel_identifier: string;
  questionnaire_instance_id: string | null;
  previous_questionnaire_instance_id: string | null;
  status_id: number;
  pipeline_id: string;
  locale: string | null;
  send_time: string;
  dispatched_time: string | null;
  result: string | null;
  retry_attempts: number | null;
  created_time: string;
  updated_time: string;
  anonymized_time: string | null;
  created_by: string | null;
  updated_by: string | null;
  external_reference: string | null;
  source: string;
  reason: string | null;
  test: boolean;
  metadata: ResponseMetadata;
}

/** A questionnaire to send: the address, the time, the metadata. */
export interface QueueItemRequest {
  responder_channel_identifier: string;
  locale?: string | null;
  send_time?: Moment | null;
  metadata?: MetadataGroups | null;
  external_reference?: string | null;
  test?: boolean;
}

/** The members that may change while an item is Pending; `status_id` 5 cancels it, other values do not act. */
export interface QueueItemUpdate {
  responder_channel_identifier?: string;
  locale?: string | null;
  send_time?: Moment;
  metadata?: MetadataGroups;
  status_id?: 1 | 2 | 3 | 4 | 5 | 6;
  result?: string | null;
}

/** Another pipeline that wrote to the same people lately. */
export interface QueueOverlap {
  pipeline_id: string;
  title: string;
  people: number;
  sampled_people: number;
}

/** An ending with `responses_max`, and the complete responses that count toward it. */
export interface Quota {
  ending_id: string;
  title: string;
  responses_max: number;
  responses_count: number;
}

/** `count` deliveries were created or restarted. `next_cursor`: `after` of the next request; null: no more. */
export interface Redelivery {
  count: number;
  next_cursor: string | null;
}

/** A span of the event log: from a time on, or behind a cursor. */
export interface RedeliveryRequest {
  from_time?: Moment | null;
  to_time?: Moment | null;
  after?: string | null;
}

/** A message that follows an unanswered one, so long after it. */
export interface Reminder {
  delay_days?: number;
  delay_hours?: number;
  delay_minutes?: number;
  messages?: Record<string, MessageTexts>;
}

/** A report that is mailed to the token's user, or sent to a chat, with the figures that the user may see then. */
export interface ReportDigest {
  digest_id: string;
  report_id: string | null;
  frequency: Open<"monthly" | "weekly">;
  day: number;
  hour: number;
  locale: string;
  recipient: string | null;
  chat_id: string | null;
  comments: boolean;
  confirmed_time: string | null;
  due_time: string;
  sent_time: string | null;
  created_time: string;
}

/** A report to be mailed regularly. */
export interface ReportDigestRequest {
  frequency: "monthly" | "weekly";
  day: number;
  report_id?: string | null;
  hour?: number;
  locale?: "de" | "el" | "en" | "es" | "fr" | "it";
  recipient?: string | null;
  chat_id?: string | null;
  comments?: boolean;
}

/** The scores of the period with their trends, and the funnel. Without a questionnaire all of it is empty. */
export interface ReportOverview {
  period: PeriodShown | null;
  bucket: string;
  questionnaires: number;
  scores: Array<OverviewScore>;
  funnel: Array<Figure>;
}

/** The result of a report. */
export interface ReportResult {
  template_id: string | null;
  report_id: string | null;
  title: string;
  generated_time: string;
  period: PeriodShown;
  parameters: Record<string, unknown>;
  rows: Array<ResultRow>;
  total: Array<Figure>;
  suppressed_rows: number;
  truncated: boolean;
}

/** A report that is run without being saved. */
export interface ReportRun {
  spec: ReportSpec;
}

/** A link to a report. Its reader sees whole months, and no small groups. */
export interface ReportShare {
  share_id: string;
  report_id: string;
  expires_time: string;
  created_time: string;
  created_by: string | null;
  share_url?: string | null;
}

/** A link to a report for somebody without a login. */
export interface ReportShareRequest {
  days?: number;
}

/** The definition of a custom report: metrics or a template, questionnaires, groups, period. */
export interface ReportSpec {
  questionnaire_ids: Array<string>;
  metrics?: Array<MetricWanted>;
  template_id?: "by_metadata" | "ces" | "comments" | "csat" | "distribution" | "drivers" | "funnel" | "nps" | "sending" | "trend" | null;
  group_by?: Array<string>;
  filter?: Record<string, unknown> | null;
  last_days?: number | null;
  chart?: "bar" | "gauge" | "line" | "table";
  from_time?: Moment | null;
  to_time?: Moment | null;
  calendar_period?: "last_month" | "last_quarter" | "last_week" | "last_year" | "this_month" | "this_quarter" | "this_week" | "this_year" | null;
  time_zone?: string | null;
  date_basis?: "completed" | "sent" | "submitted" | null;
  level?: number;
  compare?: "none" | "previous_period" | "previous_year" | "rest";
  question_id?: string | null;
  metric?: "ces" | "completion" | "csat" | "mean" | "nps" | "response" | null;
  bucket?: "day" | "month" | "quarter" | "week" | null;
  metadata?: string | null;
  channel_id?: number | null;
  pipeline_id?: string | null;
  outcome_question_id?: string | null;
  question_ids?: Array<string> | null;
  by?: "bucket" | "channel" | "pipeline" | null;
  band?: "detractor" | "passive" | "promoter" | null;
}

/** A ready report and its parameters. */
export interface ReportTemplate {
  template_id: string;
  title: string;
  description: string;
  parameters: Array<TemplateParameter>;
}

/** Messages of which something was reported, as a share with its interval of 95 %. `is_high`: all of it is above. */
export interface ReportedShare {
  count: number;
  share: number | null;
  low: number | null;
  high: number | null;
  share_max: number;
  is_high: boolean;
}

/** A person who is asked; `suppressed` if one of the addresses is on the do-not-contact list. */
export interface Responder {
  responder_id: string;
  organization_id: string;
  identifiers: Array<ResponderIdentifier>;
  locale: string | null;
  time_zone: string | null;
  suppressed: boolean;
  instances_count: number;
  last_contacted_time: string | null;
  last_submitted_time: string | null;
  anonymized_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The number of responders. */
export interface ResponderCount {
  count: number;
}

/** An address in its normal form. */
export interface ResponderIdentifier {
  channel_id: number;
  identifier: string;
}

/** A person to create. */
export interface ResponderRequest {
  metadata: Record<string, string | null>;
  locale?: string | null;
  time_zone?: string | null;
}

/** The members of a responder that may change. */
export interface ResponderUpdate {
  locale?: string | null;
  time_zone?: string | null;
  metadata?: Record<string, string | null>;
}

/** A metadata value of a responder; without a declaration `metadata_id` is null and `type` is text. */
export interface ResponderValue {
  responder_id: string;
  metadata_id: string | null;
  name: string;
  type: string;
  value: string;
  created_time: string;
  updated_time: string;
}

/** A response with what tells most of it, within seconds after it was given. */
export interface Response {
  instance_id: string;
  questionnaire_id: string;
  version_id: string;
  submitted_time: string;
  locale: string;
  test: boolean;
  channel_id: number | null;
  responder_id: string | null;
  external_reference: string | null;
  response_import_id: string | null;
  score_question_id: string | null;
  score_kind: Open<"ces" | "csat" | "nps" | "rating" | "smileys"> | null;
  score: number | null;
  score_max: number | null;
  band: Open<"detractor" | "passive" | "promoter"> | null;
  comment: string | null;
  tags: Array<string>;
  alert_instance_id: string | null;
}

/** The answer to one question; the type of `value` depends on the question. */
export interface ResponseAnswer {
  instance_id: string;
  question_id: string;
  group_id: string;
  version_id: string;
  type: string;
  title: string;
  display_name: string | null;
  value: boolean | number | string | Array<number | ResponseFile> | Record<string, number | string>;
  label: string | null;
  other_text: string | null;
  segment: string | null;
  answered_time: string;
  provisional: boolean;
}

/** All answers of an instance, in question order. */
export interface ResponseContent {
  instance_id: string;
  questionnaire_id: string;
  version_id: string;
  responder_id: string;
  locale: string;
  finalized: boolean;
  submitted_time: string | null;
  completed_time: string | null;
  answers: Array<ResponseAnswer>;
  skipped_question_ids: Array<string>;
  metadata: ResponseMetadata;
}

/** The number of responses, by what they have in common; those without a score or band are in no part of it. */
export interface ResponseCounts {
  count: number;
  is_part: boolean;
  comment: number;
  bands: Record<string, number>;
  score_kinds: Record<string, number>;
  channels: Record<string, number>;
  questionnaires: Record<string, number>;
}

/** A file that answers a question. */
export interface ResponseFile {
  file_id: string;
  name: string;
  type: string;
  bytes: number;
}

/** The filter of a list, with a condition over answers, metadata and tags; an unknown member is refused. */
export interface ResponseFilter {
  questionnaire_id?: string | null;
  application_id?: string | null;
  from_time?: Moment | null;
  to_time?: Moment | null;
  only?: "comment" | "unhappy" | null;
  band?: "detractor" | "passive" | "promoter" | null;
  score_kind?: "ces" | "csat" | "nps" | "rating" | "smileys" | null;
  tag?: string | null;
  channel_id?: number | null;
  link_id?: string | null;
  imported?: boolean | null;
  response_import_id?: string | null;
  search?: string | null;
  word?: string | null;
  test?: boolean;
  condition?: Record<string, unknown> | null;
}

/** Responses that were brought in together, and how far that has come. */
export interface ResponseImport {
  response_import_id: string;
  questionnaire_id: string;
  title: string | null;
  format: string;
  file_name: string | null;
  state: Open<"done" | "open" | "removed" | "removing">;
  rows_read: number;
  rows_created: number;
  rows_unchanged: number;
  rows_failed: number;
  rows_removed: number;
  created_time: string;
  updated_time: string;
  finished_time: string | null;
  created_by: string | null;
}

/** An import to open. */
export interface ResponseImportRequest {
  questionnaire_id: string;
  title?: string | null;
}

/** The name of an import, and its end. */
export interface ResponseImportUpdate {
  title?: string;
  state?: "done";
}

/** Values by name; empty where the token may not read them. */
export interface ResponseMetadata {
  questionnaire: Record<string, string>;
  responder: Record<string, string>;
}

/** The responses that are searched for. */
export interface ResponseSearch {
  questionnaire_id?: string | null;
  application_id?: string | null;
  from_time?: Moment | null;
  to_time?: Moment | null;
  only?: "comment" | "unhappy" | null;
  band?: "detractor" | "passive" | "promoter" | null;
  score_kind?: "ces" | "csat" | "nps" | "rating" | "smileys" | null;
  tag?: string | null;
  channel_id?: number | null;
  link_id?: string | null;
  imported?: boolean | null;
  response_import_id?: string | null;
  search?: string | null;
  word?: string | null;
  test?: boolean;
  condition?: Record<string, unknown> | null;
  limit?: number;
  cursor?: string | null;
}

/** A theme of comments, with the words by which a comment is counted for it. */
export interface ResponseTheme {
  theme_id: string;
  title: string;
  words: Array<string>;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A theme of comments, with its words. */
export interface ResponseThemeRequest {
  title: string;
  words: Array<string>;
}

/** Changes of a theme; they hold for all comments, also for old ones. */
export interface ResponseThemeUpdate {
  title?: string;
  words?: Array<string>;
}

/** A saved filter of the list of responses. */
export interface ResponseView {
  view_id: string;
  user_id: string;
  title: string;
  query: string;
  shared: boolean;
  created_time: string;
}

/** A filter of the list of responses, with a name. */
export interface ResponseViewRequest {
  title: string;
  query: string;
  shared?: boolean;
}

/** One row: the values of its groups, its figures, and the responses behind them. */
export interface ResultRow {
  key: Record<string, string | number | null>;
  figures: Array<Figure>;
  selection: SelectionShown;
}

/** The time for which an organization keeps personal data, in days. */
export interface Retention {
  organization_id: string;
  anonymize_after_days: number | null;
  delete_after_days: number | null;
  texts_days: number | null;
  people_days: number | null;
  items_days: number | null;
  uploads_days: number | null;
  answers_days: number | null;
  events_days: number | null;
  audit_days: number | null;
  exports_days: number | null;
  updated_time: string;
  updated_by: string | null;
}

/** The rows that retention would touch now. Kinds without a period are left out. */
export interface RetentionPreview {
  parts: Array<RetentionPreviewPart>;
}

/** The rows that one kind of run would touch now. */
export interface RetentionPreviewPart {
  kind: Open<"answers" | "audit" | "deleted" | "events" | "exports" | "items" | "people" | "texts" | "uploads">;
  days: number;
  count: number;
  is_more: boolean;
}

/** A run over one kind of data. `counts`: rows that it changed or removed, by resource. */
export interface RetentionRun {
  run_id: string;
  kind: Open<"answers" | "audit" | "deleted" | "events" | "exports" | "items" | "people" | "texts" | "uploads">;
  days: number;
  before_time: string;
  state: Open<"done" | "running">;
  counts: Record<string, number>;
  started_time: string;
  finished_time: string | null;
}

/** Changes of retention periods, in days. */
export interface RetentionUpdate {
  anonymize_after_days?: number | null;
  delete_after_days?: number | null;
  texts_days?: number | null;
  people_days?: number | null;
  items_days?: number | null;
  uploads_days?: number | null;
  answers_days?: number | null;
  events_days?: number | null;
  audit_days?: number | null;
  exports_days?: number | null;
}

/** The hours for which the old token stays valid beside the new one. */
export interface RotationRequest {
  overlap_hours?: number;
}

/** The event of a delivery. */
export interface SampleEvent {
  event_id: string;
  type: string;
  created_time: string;
  organization_id: string;
}

/** A text for replies and comments; its variables stand in two braces. */
export interface SavedText {
  title: string;
  body: string;
}

/** A thing that was found. */
export interface SearchHit {
  kind: Open<"alert_instance" | "questionnaire" | "questionnaire_instance" | "queue_item" | "responder">;
  id: string;
  title: string;
  detail: string | null;
  time: string | null;
}

/** The things that were found, by kind. */
export interface SearchResult {
  results: Array<SearchHit>;
}

/** A name of metadata that arrived lately. */
export interface SeenMetadata {
  name: string;
  declared: boolean;
  count: number;
  values_count: number;
  values: Array<SeenMetadataValue>;
}

/** SeenMetadataValue */
export interface SeenMetadataValue {
  value: string;
  count: number;
}

/** The responses behind a row: of these questionnaires, with the time of `date_basis` in the period. They meet `condition`, which is one as in `filter`, and the other members. Where one is null, any do. Of comments, `only`, `band` and `word` are as the list of responses takes them. `channel_id` 0 is a link that was not sent. */
export interface SelectionShown {
  questionnaire_ids: Array<string>;
  from_time: string;
  to_time: string;
  date_basis: string;
  condition: Record<string, unknown> | null;
  version_id: string | null;
  channel_id: number | null;
  pipeline_id: string | null;
  locale: string | null;
  only: string | null;
  band: string | null;
  word: string | null;
}

/** A domain that mails are sent from, with what DNS says of it. */
export interface SenderDomain {
  domain: string;
  findings: Array<DomainFinding>;
}

/** A rule by which a response to one questionnaire puts an item into the queue of another. */
export interface Sequence {
  sequence_id: string;
  organization_id: string;
  title: string;
  kind: Open<"manual" | "recovery" | "review">;
  from_questionnaire_id: string;
  pipeline_id: string;
  trigger: Open<"completed" | "submitted">;
  conditions: Record<string, unknown> | null;
  active: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** Which responses put an item into which pipeline; no `conditions`: every response. */
export interface SequenceRequest {
  title: string;
  from_questionnaire_id: string;
  pipeline_id: string;
  kind?: "manual" | "recovery" | "review";
  trigger?: "completed" | "submitted";
  conditions?: Record<string, unknown> | null;
  active?: boolean;
}

/** The members that may change; existing items stay as they are. */
export interface SequenceUpdate {
  title?: string;
  pipeline_id?: string;
  trigger?: "completed" | "submitted";
  conditions?: Record<string, unknown> | null;
  active?: boolean;
}

/** The forecasts for all rows, in their order. */
export interface Simulation {
  results: Array<SimulationRow>;
}

/** The forecast for one row. `segments` and `encoding` are of an SMS, which is paid by the segment. */
export interface SimulationRow {
  row: number;
  valid: boolean;
  verdict: Open<"go" | "hold" | "skip"> | null;
  reason: string | null;
  result: string | null;
  planned_time: string | null;
  time_zone: string | null;
  locale: string | null;
  responder_id: string | null;
  checks: Array<Check>;
  subject: string | null;
  body: string | null;
  problem: Record<string, unknown> | null;
  segments: number | null;
  encoding: Open<"gsm7" | "ucs2"> | null;
}

/** A recipient domain that throttles, and how many messages a second go there. */
export interface SlowDomain {
  domain: string;
  rate: number;
}

/** A system that calls `url` when something happened to an order or a ticket. */
export interface Source {
  source_id: string;
  title: string;
  kind: string;
  application_id: string | null;
  active: boolean;
  settings: Record<string, string>;
  has_secret: boolean;
  note_active: boolean;
  note_address: string | null;
  note_user: string | null;
  has_note_token: boolean;
  note_sent_time: string | null;
  note_problem: string | null;
  note_disabled_time: string | null;
  url: string;
  last_time: string | null;
  refused_count: number;
  refused_time: string | null;
  problem: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** The decision of a rule: an item was made, the one that waited was cancelled, or why nothing was done. */
export interface SourceDecision {
  source_rule_id: string;
  state: Open<"asked" | "cancelled" | "not_asked">;
  reason: string | null;
  detail: string | null;
  item_id: string | null;
}

/** An event that a source told of: kept for 30 days. `time`: when it happened there. */
export interface SourceEvent {
  source_event_id: string;
  source_id: string;
  event_id: string;
  what: Open<"customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved">;
  name: string;
  time: string;
  subject: string;
  values: Record<string, string | number | boolean>;
  is_test: boolean;
  state: Open<"asked" | "cancelled" | "no_rule" | "not_asked" | "waiting">;
  decisions: Array<SourceDecision>;
  received_time: string;
}

/** A new source. `secret` is what that system signs its calls with: stored sealed, and shown to nobody. Without one every call is refused. */
export interface SourceRequest {
  title: string;
  kind: string;
  application_id?: string | null;
  active?: boolean;
  settings?: Record<string, string>;
  secret?: string | null;
  note_active?: boolean;
  note_address?: string | null;
  note_user?: string | null;
  note_token?: string | null;
}

/** A rule by which an event of a source puts an item into the queue of a pipeline. Without `delay_days` and `delay_hours` the pipeline's own delay counts. `unless`: events of the same subject after which nobody is asked, and by which an item that waits is cancelled. Older events than `age_days_max` ask nobody. */
export interface SourceRule {
  source_rule_id: string;
  source_id: string;
  what: Open<"customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved">;
  conditions: Record<string, unknown> | null;
  pipeline_id: string;
  delay_days: number | null;
  delay_hours: number | null;
  unless: Array<Open<"customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved">>;
  age_days_max: number;
  active: boolean;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** When an event of a source asks, through which pipeline, and when it does not. */
export interface SourceRuleRequest {
  what: "customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved";
  pipeline_id: string;
  conditions?: Record<string, unknown> | null;
  delay_days?: number | null;
  delay_hours?: number | null;
  unless?: Array<"customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved">;
  age_days_max?: number;
  active?: boolean;
}

/** Changes of a rule; items that it made stay as they are. */
export interface SourceRuleUpdate {
  what?: "customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved";
  pipeline_id?: string;
  conditions?: Record<string, unknown> | null;
  delay_days?: number | null;
  delay_hours?: number | null;
  unless?: Array<"customer.created" | "order.cancelled" | "order.created" | "order.delivered" | "order.paid" | "order.refunded" | "order.shipped" | "other" | "subscription.ended" | "ticket.created" | "ticket.reopened" | "ticket.solved">;
  age_days_max?: number;
  active?: boolean;
}

/** Changes of a source. `secret` null, or left out, keeps the stored one. */
export interface SourceUpdate {
  title?: string;
  application_id?: string | null;
  active?: boolean;
  settings?: Record<string, string>;
  secret?: string | null;
  note_active?: boolean;
  note_address?: string | null;
  note_user?: string | null;
  note_token?: string | null;
}

/** A spec with every member. */
export interface SpecShown {
  questionnaire_ids: Array<string>;
  metrics: Array<MetricShown>;
  group_by: Array<string>;
  bucket: string | null;
  filter: Record<string, unknown> | null;
  from_time: string | null;
  to_time: string | null;
  last_days: number | null;
  date_basis: string | null;
  time_zone: string | null;
  compare: string;
  level: number;
  chart: string;
  calendar_period?: string | null;
  template_id?: string | null;
  question_id?: string | null;
  metric?: string | null;
  metadata?: string | null;
  channel_id?: number | null;
  pipeline_id?: string | null;
  outcome_question_id?: string | null;
  question_ids?: Array<string> | null;
  by?: string | null;
  band?: string | null;
}

/** A suppressed address; `identifier` is its normal form, after erasure a keyed hash. */
export interface Suppression {
  suppression_id: string;
  organization_id: string;
  channel_id: number;
  identifier: string;
  reason: Open<"blocked" | "complaint" | "erased" | "hard_bounce" | "unsubscribed">;
  expires_time: string | null;
  note: string | null;
  created_time: string;
  created_by: string | null;
}

/** An address to suppress. */
export interface SuppressionRequest {
  channel_id: 1 | 2 | 3 | 4 | 5;
  identifier: string;
  reason?: "blocked" | "complaint" | "erased" | "hard_bounce" | "unsubscribed";
  expires_time?: Moment | null;
  note?: string | null;
}

/** A tag of an instance, in lower case. */
export interface Tag {
  instance_id: string;
  tag: string;
  created_time: string;
  created_by: string | null;
}

/** A tag to add. */
export interface TagRequest {
  tag: string;
}

/** Another name for a tag. */
export interface TagUpdate {
  tag?: string;
}

/** A tag for many responses, and how far it has come; a worker goes on with what the request left. */
export interface Tagging {
  tagging_id: string;
  tag: string;
  action: Open<"add" | "remove">;
  state: Open<"done" | "running" | "undoing" | "undone">;
  found: number;
  passed: number;
  changed: number;
  undone: number;
  created_time: string;
}

/** A tag, and the responses that get or lose it: all that match the filter, or those of these ids. */
export interface TaggingRequest {
  tag: string;
  action?: "add" | "remove";
  filter?: ResponseFilter;
  instance_ids?: Array<string> | null;
}

/** A query parameter of a template. */
export interface TemplateParameter {
  name: string;
  type: string;
  required: boolean;
  default: unknown;
}

/** The clock of the organization's test items. */
export interface TestClock {
  time: string;
  ahead_seconds: number;
}

/** Hours to move the clock forward by. */
export interface TestClockRequest {
  hours: number;
}

/** A test message and its result. `body` is the plain text; empty if nothing was written. `segments` and `encoding` are those of an SMS. */
export interface TestSend {
  responder_channel_identifier: string;
  locale: string;
  subject: string | null;
  body: string;
  outcome: Open<"accepted" | "refused" | "retry" | "throttled" | "unknown">;
  reply: string | null;
  sent_time: string | null;
  segments: number | null;
  encoding: Open<"gsm7" | "ucs2"> | null;
}

/** The look of a questionnaire's pages and mails, with all that it inherits. */
export interface Theme {
  questionnaire_id: string;
  visual_id: string | null;
  color_primary: string | null;
  color_background: string | null;
  color_text: string | null;
  logo: string | null;
  font: string;
  corner_radius: number | null;
  density: string;
  layout: string;
  show_progress: boolean;
  sources: Record<string, string>;
  unused: Array<string>;
  contrasts: Array<Contrast>;
}

/** One thing that happened to a person, or that is planned. */
export interface TimelineEntry {
  entry_id: string;
  kind: Open<"answered" | "case_closed" | "case_opened" | "issued" | "not_sent" | "sent" | "suppressed" | "viewed" | "waiting">;
  time: string;
  title: string | null;
  questionnaire_id: string | null;
  item_id: string | null;
  instance_id: string | null;
  alert_instance_id: string | null;
  channel_id: number | null;
  source: string | null;
  order_key: string | null;
  reason: string | null;
  result: string | null;
  test: boolean;
  score_question_id: string | null;
  score: number | null;
  band: Open<"detractor" | "passive" | "promoter"> | null;
  comment: string | null;
}

/** An API token. `token` is its text, in the answer that creates it and never again. */
export interface Token {
  token_id: string;
  organization_id: string;
  user_id: string | null;
  title: string;
  kind: Open<"organization" | "user">;
  scopes: Array<string>;
  application_ids: Array<string>;
  only_where: string | null;
  only_values: Array<string>;
  networks: Array<string>;
  test: boolean;
  hint: string;
  token: string | null;
  expires_time: string | null;
  revoked_time: string | null;
  last_used_time: string | null;
  created_time: string;
  created_by: string | null;
}

/** A token to create. Without `kind`: of the same kind as the caller's. */
export interface TokenRequest {
  title: string;
  scopes: Array<string>;
  kind?: "organization" | "user" | null;
  user_id?: string | null;
  application_ids?: Array<string>;
  only_where?: string | null;
  only_values?: Array<string>;
  networks?: Array<string>;
  expires_time?: Moment | null;
  test?: boolean;
}

/** Changes of a token. */
export interface TokenUpdate {
  title?: string;
  networks?: Array<string>;
}

/** The decision about an item, rule by rule. */
export interface Trace {
  item_id: string;
  status_id: number;
  decided_time: string;
  verdict: Open<"done" | "go" | "hold" | "skip">;
  reason: string | null;
  result: string | null;
  planned_time: string | null;
  planned_local_time: string | null;
  delay_summary: string | null;
  time_zone: string;
  locale: string;
  checks: Array<Check>;
  undeclared_metadata: Array<string>;
  pipeline_summary: string;
  source_id: string | null;
  source_event_id: string | null;
}

/** One text and its translation. */
export interface Translation {
  key: string;
  path: string;
  question_id: string | null;
  member: string;
  source: string;
  target: string | null;
  state: Open<"missing" | "source_changed" | "translated">;
  source_before: string | null;
}

/** One translation. */
export interface TranslationRequest {
  key: string;
  source?: string | null;
  target?: string | null;
}

/** All texts of a draft beside those of another language. */
export interface Translations {
  questionnaire_id: string;
  default_locale: string;
  locale: string;
  texts_count: number;
  missing_count: number;
  changed_count: number;
  texts: Array<Translation>;
  unknown_keys: Array<string>;
}

/** Translations to save; the others stay as they are. */
export interface TranslationsRequest {
  locale: string;
  texts: Array<TranslationRequest>;
}

/** The decision about an event. `planned_time`: when the message would leave. */
export interface TriedEvent {
  source_event_id: string;
  subject: string;
  asks: boolean;
  reason: string | null;
  detail: string | null;
  planned_time: string | null;
}

/** Invitations with one outcome: `reason` says why they are not asked, null that they are. */
export interface TriedOutcome {
  reason: string | null;
  before: number;
  after: number;
}

/** The decisions about the last events of the rule's sort, the newest first. */
export interface TriedRule {
  results: Array<TriedEvent>;
  asked: number;
}

/** A user of the organization. Without `application_ids`: of all its applications. */
export interface User {
  user_id: string;
  organization_id: string;
  email: string | null;
  first_name: string | null;
  middle_name: string | null;
  last_name: string | null;
  display_name: string | null;
  locale: string | null;
  time_zone: string | null;
  role: Open<"admin" | "agent" | "owner" | "reporting">;
  application_ids: Array<string>;
  only_where: string | null;
  only_values: Array<string>;
  active: boolean;
  service: boolean;
  invited_time: string;
  last_login_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A user, with all that they reach: of oneself the scopes of the token, of others those of the role. */
export interface UserAccess {
  user_id: string;
  organization_id: string;
  email: string | null;
  first_name: string | null;
  middle_name: string | null;
  last_name: string | null;
  display_name: string | null;
  locale: string | null;
  time_zone: string | null;
  role: Open<"admin" | "agent" | "owner" | "reporting">;
  application_ids: Array<string>;
  only_where: string | null;
  only_values: Array<string>;
  active: boolean;
  service: boolean;
  invited_time: string;
  last_login_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
  scopes: Array<string>;
  applications: Array<UserApplication>;
}

/** An application that a user reaches. */
export interface UserApplication {
  application_id: string;
  display_name: string;
}

/** A user to invite, or a service account. */
export interface UserRequest {
  role: "admin" | "agent" | "owner" | "reporting";
  email?: string | null;
  first_name?: string | null;
  middle_name?: string | null;
  last_name?: string | null;
  display_name?: string | null;
  locale?: string | null;
  time_zone?: string | null;
  application_ids?: Array<string>;
  only_where?: string | null;
  only_values?: Array<string>;
  active?: boolean;
  service?: boolean;
}

/** Changes of a user. */
export interface UserUpdate {
  first_name?: string | null;
  middle_name?: string | null;
  last_name?: string | null;
  display_name?: string | null;
  locale?: string | null;
  time_zone?: string | null;
  role?: "admin" | "agent" | "owner" | "reporting";
  application_ids?: Array<string>;
  only_where?: string | null;
  only_values?: Array<string>;
  active?: boolean;
}

/** All problems of a definition. */
export interface Validation {
  problems: Array<Problem>;
}

/** All changes from a version to another one, or to the draft. */
export interface VersionDifference {
  questionnaire_id: string;
  version_id: string;
  compared_id: string;
  differences: Array<Difference>;
}

/** A theme of a questionnaire's pages, used while it is active. */
export interface Visual {
  visual_id: string;
  questionnaire_id: string;
  title: string;
  active: boolean;
  configuration: Record<string, unknown>;
  problems: Array<VisualProblem>;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A key of a configuration that pages and mails do not show, and why. */
export interface VisualProblem {
  key: string;
  code: string;
  message: string;
}

/** A visual to create. */
export interface VisualRequest {
  title: string;
  configuration: Record<string, unknown>;
  active?: boolean;
}

/** The members of a visual that may change; a configuration is replaced as a whole. */
export interface VisualUpdate {
  title?: string;
  configuration?: Record<string, unknown>;
  active?: boolean;
}

/** An endpoint of yours that receives events. `secret` signs them: shown when it is created, and never again. */
export interface Webhook {
  webhook_id: string;
  organization_id: string;
  title: string;
  active: boolean;
  target_url: string;
  questionnaire_id: string | null;
  application_id: string | null;
  event_types: Array<string>;
  secret: string | null;
  consecutive_failures: number;
  disabled_time: string | null;
  created_time: string;
  updated_time: string;
  created_by: string | null;
  updated_by: string | null;
}

/** A new endpoint. No `questionnaire_id`, no `application_id`: of all of them. */
export interface WebhookRequest {
  title: string;
  target_url: string;
  active?: boolean;
  questionnaire_id?: string | null;
  application_id?: string | null;
  event_types?: Array<string>;
}

/** The body of a delivery: the members of the changed resource beside `event`. */
export interface WebhookSample {
  event: SampleEvent;
}

/** Changes of an endpoint; `active` true switches one on again that failures switched off. */
export interface WebhookUpdate {
  title?: string;
  target_url?: string;
  active?: boolean;
  questionnaire_id?: string | null;
  application_id?: string | null;
  event_types?: Array<string>;
}
