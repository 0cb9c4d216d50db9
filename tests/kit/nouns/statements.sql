-- alert: get
select t.alert_id, t.application_id, t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment, '{}'::text[] as chat_urls, t.open_count, t.last_triggered_time, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert t
where t.organization_id = $1 and t.deleted_time is null and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.alert_id = $3;

-- alert: get_locked
select t.alert_id, t.application_id, t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment, '{}'::text[] as chat_urls, t.open_count, t.last_triggered_time, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert t
where t.organization_id = $1 and t.deleted_time is null and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.alert_id = $3 for no key update of t;

-- alert: list
select t.alert_id, t.application_id, t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment, '{}'::text[] as chat_urls, t.open_count, t.last_triggered_time, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert t
where t.organization_id = $1 and t.deleted_time is null and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2));

-- alert: insert
insert into alert as t (organization_id, alert_id, application_id, title, description, questionnaire_ids, trigger, conditions, severity, active, status_id, assigned_user_id, due_hours, fold_hours, subscriber_user_ids, chat_ids, escalation_hours, escalation_severity, escalation_user_id, assignment,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.application_id, s.title, s.description, s.questionnaire_ids, s.trigger, s.conditions, s.severity, s.active, s.status_id, s.assigned_user_id, s.due_hours, s.fold_hours, s.subscriber_user_ids, s.chat_ids, s.escalation_hours, s.escalation_severity, s.escalation_user_id, s.assignment, $4, $4, $5, $5
from jsonb_populate_record(null::alert, $3::jsonb) s
returning t.alert_id, t.application_id, t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment, '{}'::text[] as chat_urls, t.open_count, t.last_triggered_time, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- alert: update
update alert t
set title = s.title, description = s.description, questionnaire_ids = s.questionnaire_ids, trigger = s.trigger, conditions = s.conditions, severity = s.severity, active = s.active, status_id = s.status_id, assigned_user_id = s.assigned_user_id, due_hours = s.due_hours, fold_hours = s.fold_hours, subscriber_user_ids = s.subscriber_user_ids, chat_ids = s.chat_ids, escalation_hours = s.escalation_hours, escalation_severity = s.escalation_severity, escalation_user_id = s.escalation_user_id, assignment = s.assignment,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from alert o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.alert_id = $2 and o.organization_id = $1 and o.alert_id = $2 and t.deleted_time is null
  and (t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment) is distinct from (s.title, s.description, s.questionnaire_ids, s.trigger, s.conditions, s.severity, s.active, s.status_id, s.assigned_user_id, s.due_hours, s.fold_hours, s.subscriber_user_ids, s.chat_ids, s.escalation_hours, s.escalation_severity, s.escalation_user_id, s.assignment)
returning t.alert_id, t.application_id, t.title, t.description, t.questionnaire_ids, t.trigger, t.conditions, t.severity, t.active, t.status_id, t.assigned_user_id, t.due_hours, t.fold_hours, t.subscriber_user_ids, t.chat_ids, t.escalation_hours, t.escalation_severity, t.escalation_user_id, t.assignment, '{}'::text[] as chat_urls, t.open_count, t.last_triggered_time, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- alert: delete
delete from alert t where t.organization_id = $1 and t.alert_id = $2;

-- alert_mailbox: get
select o.organization_id, t.address, t.host, t.security, t.port, t.username, t.folder, t.sealed_password, t.read_time, t.mail_count, t.problem, t.problem_time, t.server_reply, t.answer_count, t.answer_time, t.skipped_count, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join alert_mailbox t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- alert_mailbox: get_locked
select o.organization_id, t.address, t.host, t.security, t.port, t.username, t.folder, t.sealed_password, t.read_time, t.mail_count, t.problem, t.problem_time, t.server_reply, t.answer_count, t.answer_time, t.skipped_count, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join alert_mailbox t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- alert_mailbox: update
insert into alert_mailbox as t (organization_id, address, host, security, port, username, folder, sealed_password, updated_time, updated_by)
select $1, s.address, s.host, s.security, s.port, s.username, s.folder, s.sealed_password, $4, $5
from jsonb_populate_record(null::alert_mailbox, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set address = excluded.address, host = excluded.host, security = excluded.security, port = excluded.port, username = excluded.username, folder = excluded.folder, sealed_password = excluded.sealed_password,
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and (t.address, t.host, t.security, t.port, t.username, t.folder, t.sealed_password) is distinct from (excluded.address, excluded.host, excluded.security, excluded.port, excluded.username, excluded.folder, excluded.sealed_password)
returning t.organization_id, t.address, t.host, t.security, t.port, t.username, t.folder, t.sealed_password, t.read_time, t.mail_count, t.problem, t.problem_time, t.server_reply, t.answer_count, t.answer_time, t.skipped_count, coalesce(t.version, 0) as version, t.updated_time, t.updated_by;

-- alert_settings: get
select o.organization_id, t.weekdays, t.start_time, t.end_time, t.closed_on_holidays, t.causes, t.remedies, t.saved_texts, t.recovery_questionnaire_id, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join alert_settings t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- alert_settings: get_locked
select o.organization_id, t.weekdays, t.start_time, t.end_time, t.closed_on_holidays, t.causes, t.remedies, t.saved_texts, t.recovery_questionnaire_id, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join alert_settings t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- alert_settings: update
insert into alert_settings as t (organization_id, weekdays, start_time, end_time, closed_on_holidays, causes, remedies, saved_texts, recovery_questionnaire_id, updated_time, updated_by)
select $1, s.weekdays, s.start_time, s.end_time, s.closed_on_holidays, s.causes, s.remedies, s.saved_texts, s.recovery_questionnaire_id, $4, $5
from jsonb_populate_record(null::alert_settings, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set weekdays = excluded.weekdays, start_time = excluded.start_time, end_time = excluded.end_time, closed_on_holidays = excluded.closed_on_holidays, causes = excluded.causes, remedies = excluded.remedies, saved_texts = excluded.saved_texts, recovery_questionnaire_id = excluded.recovery_questionnaire_id,
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and (t.weekdays, t.start_time, t.end_time, t.closed_on_holidays, t.causes, t.remedies, t.saved_texts, t.recovery_questionnaire_id) is distinct from (excluded.weekdays, excluded.start_time, excluded.end_time, excluded.closed_on_holidays, excluded.causes, excluded.remedies, excluded.saved_texts, excluded.recovery_questionnaire_id)
returning t.organization_id, t.weekdays, t.start_time, t.end_time, t.closed_on_holidays, t.causes, t.remedies, t.saved_texts, t.recovery_questionnaire_id, coalesce(t.version, 0) as version, t.updated_time, t.updated_by;

-- alert_status: get
select t.status_id, t.title, t.description, t.color, t.closing, t.application_id, t.position, t.status_id < 100 as system, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert_status t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.status_id = $3;

-- alert_status: get_locked
select t.status_id, t.title, t.description, t.color, t.closing, t.application_id, t.position, t.status_id < 100 as system, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert_status t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.status_id = $3 for update of t;

-- alert_status: list
select t.status_id, t.title, t.description, t.color, t.closing, t.application_id, t.position, t.status_id < 100 as system, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from alert_status t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2));

-- alert_status: count
select count(*) from alert_status t where t.organization_id = $1 and t.status_id >= 100;

-- alert_status: insert
insert into alert_status as t (organization_id, status_id, title, color, description, closing, application_id, position,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.color, s.description, s.closing, s.application_id, s.position, $4, $4, $5, $5
from jsonb_populate_record(null::alert_status, $3::jsonb) s
returning t.status_id, t.title, t.description, t.color, t.closing, t.application_id, t.position, t.status_id < 100 as system, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- alert_status: update
update alert_status t
set title = s.title, color = s.color, description = s.description, closing = s.closing, position = s.position,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from alert_status o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.status_id = $2 and o.organization_id = $1 and o.status_id = $2
  and (t.title, t.color, t.description, t.closing, t.position) is distinct from (s.title, s.color, s.description, s.closing, s.position)
returning t.status_id, t.title, t.description, t.color, t.closing, t.application_id, t.position, t.status_id < 100 as system, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- alert_status: delete
delete from alert_status t where t.organization_id = $1 and t.status_id = $2;

-- application: get
select t.application_id, t.application_type_id, t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from application t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.application_id = $3;

-- application: get_locked
select t.application_id, t.application_type_id, t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from application t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.application_id = $3 for no key update of t;

-- application: list
select t.application_id, t.application_type_id, t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from application t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or t.application_id = any($2));

-- application: insert
insert into application as t (organization_id, application_id, display_name, application_type_id, description, time_zone, default_locale, website_urls, brand, active,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.display_name, s.application_type_id, s.description, s.time_zone, s.default_locale, s.website_urls, s.brand, s.active, $4, $4, $5, $5
from jsonb_populate_record(null::application, $3::jsonb) s
returning t.application_id, t.application_type_id, t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- application: update
update application t
set display_name = s.display_name, description = s.description, time_zone = s.time_zone, default_locale = s.default_locale, website_urls = s.website_urls, brand = s.brand, active = s.active,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from application o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.application_id = $2 and o.organization_id = $1 and o.application_id = $2
  and (t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active) is distinct from (s.display_name, s.description, s.time_zone, s.default_locale, s.website_urls, s.brand, s.active)
returning t.application_id, t.application_type_id, t.display_name, t.description, t.time_zone, t.default_locale, t.website_urls, t.brand, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- application: delete
delete from application t where t.organization_id = $1 and t.application_id = $2;

-- chat: get
select t.chat_id, t.title, t.kind, t.host, t.comments, t.locale, t.active, t.sent_time, t.problem, t.failing_since, t.disabled_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from chat t
where t.organization_id = $1 and cardinality($2::text[]) = 0 and not $3::boolean and t.chat_id = $4;

-- chat: get_locked
select t.chat_id, t.title, t.kind, t.host, t.comments, t.locale, t.active, t.sent_time, t.problem, t.failing_since, t.disabled_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from chat t
where t.organization_id = $1 and cardinality($2::text[]) = 0 and not $3::boolean and t.chat_id = $4 for no key update of t;

-- chat: list
select t.chat_id, t.title, t.kind, t.host, t.comments, t.locale, t.active, t.sent_time, t.problem, t.failing_since, t.disabled_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from chat t
where t.organization_id = $1 and cardinality($2::text[]) = 0 and not $3::boolean;

-- chat: count
select count(*) from chat t where t.organization_id = $1;

-- chat: insert
insert into chat as t (organization_id, chat_id, title, kind, comments, locale, active, host, sealed_address,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.kind, s.comments, s.locale, s.active, s.host, s.sealed_address, $4, $4, $5, $5
from jsonb_populate_record(null::chat, $3::jsonb) s
returning t.chat_id, t.title, t.kind, t.host, t.comments, t.locale, t.active, t.sent_time, t.problem, t.failing_since, t.disabled_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- chat: update
update chat t
set title = s.title, comments = s.comments, locale = s.locale, active = s.active, host = s.host, sealed_address = s.sealed_address,
  disabled_time = case when s.active then null else t.disabled_time end,
  failing_since = case when s.active and not t.active then null else t.failing_since end,
  resume_time = case when s.active and not t.active then null else t.resume_time end,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from chat o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.chat_id = $2 and o.organization_id = $1 and o.chat_id = $2
  and (t.title, t.comments, t.locale, t.active, t.host, t.sealed_address) is distinct from (s.title, s.comments, s.locale, s.active, s.host, s.sealed_address)
returning t.chat_id, t.title, t.kind, t.host, t.comments, t.locale, t.active, t.sent_time, t.problem, t.failing_since, t.disabled_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- chat: delete
delete from chat t where t.organization_id = $1 and t.chat_id = $2;

-- contact_policy: get
select o.organization_id, t.enabled, t.enabled_time, t.invitations_max, t.window_days, t.response_window_days, t.per_channel, t.count_reminders, t.if_exceeded, t.quiet_start_time, t.quiet_end_time, t.holiday_country, t.holidays, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join contact_policy t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- contact_policy: get_locked
select o.organization_id, t.enabled, t.enabled_time, t.invitations_max, t.window_days, t.response_window_days, t.per_channel, t.count_reminders, t.if_exceeded, t.quiet_start_time, t.quiet_end_time, t.holiday_country, t.holidays, coalesce(t.version, 0) as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join contact_policy t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- contact_policy: update
insert into contact_policy as t (organization_id, enabled, invitations_max, window_days, response_window_days, per_channel, count_reminders, if_exceeded, quiet_start_time, quiet_end_time, holiday_country, holidays, enabled_time, updated_time, updated_by)
select $1, s.enabled, s.invitations_max, s.window_days, s.response_window_days, s.per_channel, s.count_reminders, s.if_exceeded, s.quiet_start_time, s.quiet_end_time, s.holiday_country, s.holidays, s.enabled_time, $4, $5
from jsonb_populate_record(null::contact_policy, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set enabled = excluded.enabled, invitations_max = excluded.invitations_max, window_days = excluded.window_days, response_window_days = excluded.response_window_days, per_channel = excluded.per_channel, count_reminders = excluded.count_reminders, if_exceeded = excluded.if_exceeded, quiet_start_time = excluded.quiet_start_time, quiet_end_time = excluded.quiet_end_time, holiday_country = excluded.holiday_country, holidays = excluded.holidays, enabled_time = excluded.enabled_time,
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and (t.enabled, t.invitations_max, t.window_days, t.response_window_days, t.per_channel, t.count_reminders, t.if_exceeded, t.quiet_start_time, t.quiet_end_time, t.holiday_country, t.holidays, t.enabled_time) is distinct from (excluded.enabled, excluded.invitations_max, excluded.window_days, excluded.response_window_days, excluded.per_channel, excluded.count_reminders, excluded.if_exceeded, excluded.quiet_start_time, excluded.quiet_end_time, excluded.holiday_country, excluded.holidays, excluded.enabled_time)
returning t.organization_id, t.enabled, t.enabled_time, t.invitations_max, t.window_days, t.response_window_days, t.per_channel, t.count_reminders, t.if_exceeded, t.quiet_start_time, t.quiet_end_time, t.holiday_country, t.holidays, coalesce(t.version, 0) as version, t.updated_time, t.updated_by;

-- coupon_pool: get
select t.pool_id, t.key, t.title, t.low_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is null) as free_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is not null) as given_count, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from coupon_pool t
where t.organization_id = $1 and t.pool_id = $2;

-- coupon_pool: get_locked
select t.pool_id, t.key, t.title, t.low_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is null) as free_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is not null) as given_count, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from coupon_pool t
where t.organization_id = $1 and t.pool_id = $2 for no key update of t;

-- coupon_pool: list
select t.pool_id, t.key, t.title, t.low_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is null) as free_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is not null) as given_count, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from coupon_pool t
where t.organization_id = $1;

-- coupon_pool: count
select count(*) from coupon_pool t where t.organization_id = $1;

-- coupon_pool: insert
insert into coupon_pool as t (organization_id, pool_id, key, title, low_count,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.key, s.title, s.low_count, $4, $4, $5, $5
from jsonb_populate_record(null::coupon_pool, $3::jsonb) s
returning t.pool_id, t.key, t.title, t.low_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is null) as free_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is not null) as given_count, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- coupon_pool: update
update coupon_pool t
set key = s.key, title = s.title, low_count = s.low_count,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from coupon_pool o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.pool_id = $2 and o.organization_id = $1 and o.pool_id = $2
  and (t.key, t.title, t.low_count) is distinct from (s.key, s.title, s.low_count)
returning t.pool_id, t.key, t.title, t.low_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is null) as free_count, (select count(*) from coupon_code c where c.organization_id = t.organization_id and c.pool_id = t.pool_id and c.instance_id is not null) as given_count, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- coupon_pool: delete
delete from coupon_pool t where t.organization_id = $1 and t.pool_id = $2;

-- custom_report: get
select t.report_id, t.application_id, t.title, t.description, t.spec, t.questionnaire_ids, t.pinned_time is not null as pinned, t.pinned_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from custom_report t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or (
    coalesce(t.application_id = any($2), true) and not exists (
      select from questionnaire q where q.organization_id = t.organization_id
        and q.questionnaire_id = any(t.questionnaire_ids) and q.owner_application_id <> all($2)))) and t.report_id = $3;

-- custom_report: get_locked
select t.report_id, t.application_id, t.title, t.description, t.spec, t.questionnaire_ids, t.pinned_time is not null as pinned, t.pinned_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from custom_report t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or (
    coalesce(t.application_id = any($2), true) and not exists (
      select from questionnaire q where q.organization_id = t.organization_id
        and q.questionnaire_id = any(t.questionnaire_ids) and q.owner_application_id <> all($2)))) and t.report_id = $3 for update of t;

-- custom_report: list
select t.report_id, t.application_id, t.title, t.description, t.spec, t.questionnaire_ids, t.pinned_time is not null as pinned, t.pinned_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from custom_report t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or (
    coalesce(t.application_id = any($2), true) and not exists (
      select from questionnaire q where q.organization_id = t.organization_id
        and q.questionnaire_id = any(t.questionnaire_ids) and q.owner_application_id <> all($2))));

-- custom_report: count
select count(*) from custom_report t where t.organization_id = $1;

-- custom_report: insert
insert into custom_report as t (organization_id, report_id, title, spec, application_id, description, questionnaire_ids,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.spec, s.application_id, s.description, s.questionnaire_ids, $4, $4, $5, $5
from jsonb_populate_record(null::custom_report, $3::jsonb) s
returning t.report_id, t.application_id, t.title, t.description, t.spec, t.questionnaire_ids, t.pinned_time is not null as pinned, t.pinned_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- custom_report: update
update custom_report t
set title = s.title, spec = s.spec, description = s.description, questionnaire_ids = s.questionnaire_ids, pinned_time = s.pinned_time,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from custom_report o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.report_id = $2 and o.organization_id = $1 and o.report_id = $2
  and (t.title, t.spec, t.description, t.questionnaire_ids, t.pinned_time) is distinct from (s.title, s.spec, s.description, s.questionnaire_ids, s.pinned_time)
returning t.report_id, t.application_id, t.title, t.description, t.spec, t.questionnaire_ids, t.pinned_time is not null as pinned, t.pinned_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- custom_report: delete
delete from custom_report t where t.organization_id = $1 and t.report_id = $2;

-- export_schedule: get
select t.schedule_id, t.title, t.questionnaire_id, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.destination, t.path, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret is not null as has_secret, t.sealed_secret, t.scopes, t.next_time, t.last_time, t.problem, t.problem_time, t.reply, t.failures, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from export_schedule t
where t.organization_id = $1 and not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.schedule_id = $4;

-- export_schedule: get_locked
select t.schedule_id, t.title, t.questionnaire_id, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.destination, t.path, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret is not null as has_secret, t.sealed_secret, t.scopes, t.next_time, t.last_time, t.problem, t.problem_time, t.reply, t.failures, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from export_schedule t
where t.organization_id = $1 and not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.schedule_id = $4 for no key update of t;

-- export_schedule: list
select t.schedule_id, t.title, t.questionnaire_id, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.destination, t.path, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret is not null as has_secret, t.sealed_secret, t.scopes, t.next_time, t.last_time, t.problem, t.problem_time, t.reply, t.failures, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from export_schedule t
where t.organization_id = $1 and not $3::boolean and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)));

-- export_schedule: count
select count(*) from export_schedule t where t.organization_id = $1;

-- export_schedule: insert
insert into export_schedule as t (organization_id, schedule_id, title, questionnaire_id, destination, path, active, every, day, hour, format, locale, filter, include_incomplete, include_metadata, include_recipient, endpoint, bucket, region, access_key, host, port, username, host_key, sealed_secret, scopes, next_time,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.questionnaire_id, s.destination, s.path, s.active, s.every, s.day, s.hour, s.format, s.locale, s.filter, s.include_incomplete, s.include_metadata, s.include_recipient, s.endpoint, s.bucket, s.region, s.access_key, s.host, s.port, s.username, s.host_key, s.sealed_secret, s.scopes, s.next_time, $4, $4, $5, $5
from jsonb_populate_record(null::export_schedule, $3::jsonb) s
returning t.schedule_id, t.title, t.questionnaire_id, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.destination, t.path, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret is not null as has_secret, t.sealed_secret, t.scopes, t.next_time, t.last_time, t.problem, t.problem_time, t.reply, t.failures, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- export_schedule: update
update export_schedule t
set title = s.title, path = s.path, active = s.active, every = s.every, day = s.day, hour = s.hour, format = s.format, locale = s.locale, filter = s.filter, include_incomplete = s.include_incomplete, include_metadata = s.include_metadata, include_recipient = s.include_recipient, endpoint = s.endpoint, bucket = s.bucket, region = s.region, access_key = s.access_key, host = s.host, port = s.port, username = s.username, host_key = s.host_key, sealed_secret = s.sealed_secret, scopes = s.scopes, next_time = s.next_time,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from export_schedule o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.schedule_id = $2 and o.organization_id = $1 and o.schedule_id = $2
  and (t.title, t.path, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret, t.scopes, t.next_time) is distinct from (s.title, s.path, s.active, s.every, s.day, s.hour, s.format, s.locale, s.filter, s.include_incomplete, s.include_metadata, s.include_recipient, s.endpoint, s.bucket, s.region, s.access_key, s.host, s.port, s.username, s.host_key, s.sealed_secret, s.scopes, s.next_time)
returning t.schedule_id, t.title, t.questionnaire_id, t.active, t.every, t.day, t.hour, t.format, t.locale, t.filter, t.include_incomplete, t.include_metadata, t.include_recipient, t.destination, t.path, t.endpoint, t.bucket, t.region, t.access_key, t.host, t.port, t.username, t.host_key, t.sealed_secret is not null as has_secret, t.sealed_secret, t.scopes, t.next_time, t.last_time, t.problem, t.problem_time, t.reply, t.failures, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- export_schedule: delete
delete from export_schedule t where t.organization_id = $1 and t.schedule_id = $2;

-- legal_hold: get
select t.hold_id, t.responder_id, t.reason, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from legal_hold t
where t.organization_id = $1 and t.hold_id = $2;

-- legal_hold: get_locked
select t.hold_id, t.responder_id, t.reason, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from legal_hold t
where t.organization_id = $1 and t.hold_id = $2 for no key update of t;

-- legal_hold: list
select t.hold_id, t.responder_id, t.reason, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from legal_hold t
where t.organization_id = $1;

-- legal_hold: count
select count(*) from legal_hold t where t.organization_id = $1;

-- legal_hold: insert
insert into legal_hold as t (organization_id, hold_id, reason, responder_id,
  created_time, created_by)
select $1, $2, s.reason, s.responder_id, $4, $5
from jsonb_populate_record(null::legal_hold, $3::jsonb) s
returning t.hold_id, t.responder_id, t.reason, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by;

-- legal_hold: delete
delete from legal_hold t where t.organization_id = $1 and t.hold_id = $2;

-- login_policy: get
select o.organization_id, t.requires_second_factor, t.requires_provider, t.console_networks, t.token_networks, coalesce(t.version, 0) + 1 as version, t.updated_time, t.updated_by
from organization o left join login_policy t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- login_policy: get_locked
select o.organization_id, t.requires_second_factor, t.requires_provider, t.console_networks, t.token_networks, coalesce(t.version, 0) + 1 as version, t.updated_time, t.updated_by
from organization o left join login_policy t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- login_policy: update
insert into login_policy as t (organization_id, requires_second_factor, requires_provider, console_networks, token_networks, updated_time, updated_by)
select $1, s.requires_second_factor, s.requires_provider, s.console_networks, s.token_networks, $4, $5
from jsonb_populate_record(null::login_policy, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set requires_second_factor = excluded.requires_second_factor, requires_provider = excluded.requires_provider, console_networks = excluded.console_networks, token_networks = excluded.token_networks,
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and (t.requires_second_factor, t.requires_provider, t.console_networks, t.token_networks) is distinct from (excluded.requires_second_factor, excluded.requires_provider, excluded.console_networks, excluded.token_networks)
returning t.organization_id, t.requires_second_factor, t.requires_provider, t.console_networks, t.token_networks, coalesce(t.version, 0) + 1 as version, t.updated_time, t.updated_by;

-- metadata_definition: get
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'questionnaire' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.metadata_id = $3;

-- metadata_definition: get_locked
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'questionnaire' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.metadata_id = $3 for no key update of t;

-- metadata_definition: list
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'questionnaire' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2));

-- metadata_definition: count
select count(*) from metadata_definition t where t.organization_id = $1 and t.kind = 'questionnaire';

-- metadata_definition: insert
insert into metadata_definition as t (organization_id, metadata_id, name, title, type, anonymize, level, application_id, application_type_id, kind,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.name, s.title, s.type, s.anonymize, s.level, s.application_id, s.application_type_id, s.kind, $4, $4, $5, $5
from jsonb_populate_record(null::metadata_definition, $3::jsonb) s
returning t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- metadata_definition: update
update metadata_definition t
set title = s.title, anonymize = s.anonymize,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from metadata_definition o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.metadata_id = $2 and o.organization_id = $1 and o.metadata_id = $2
  and (t.title, t.anonymize) is distinct from (s.title, s.anonymize)
returning t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- metadata_definition: delete
delete from metadata_definition t where t.organization_id = $1 and t.metadata_id = $2;

-- metadata_definition: get
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'responder' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.metadata_id = $3;

-- metadata_definition: get_locked
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'responder' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.metadata_id = $3 for no key update of t;

-- metadata_definition: list
select t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from metadata_definition t
where t.organization_id = $1 and t.kind = 'responder' and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2));

-- metadata_definition: count
select count(*) from metadata_definition t where t.organization_id = $1 and t.kind = 'responder';

-- metadata_definition: insert
insert into metadata_definition as t (organization_id, metadata_id, name, title, type, anonymize, level, application_id, application_type_id, kind,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.name, s.title, s.type, s.anonymize, s.level, s.application_id, s.application_type_id, s.kind, $4, $4, $5, $5
from jsonb_populate_record(null::metadata_definition, $3::jsonb) s
returning t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- metadata_definition: update
update metadata_definition t
set title = s.title, anonymize = s.anonymize,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from metadata_definition o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.metadata_id = $2 and o.organization_id = $1 and o.metadata_id = $2
  and (t.title, t.anonymize) is distinct from (s.title, s.anonymize)
returning t.metadata_id, t.kind, t.name, t.title, t.type, t.anonymize, t.level, t.application_id, t.application_type_id, false as read_only, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- metadata_definition: delete
delete from metadata_definition t where t.organization_id = $1 and t.metadata_id = $2;

-- notification: get
select t.notification_id, t.user_id, t.event_id, t.type, t.title, t.body, t.link, t.web, t.mail_id, t.read_time is not null as read, t.read_time, t.organization_id, t.version, t.created_time
from notification t
where t.organization_id = $1 and t.user_id = $2 and t.web and t.notification_id = $3;

-- notification: get_locked
select t.notification_id, t.user_id, t.event_id, t.type, t.title, t.body, t.link, t.web, t.mail_id, t.read_time is not null as read, t.read_time, t.organization_id, t.version, t.created_time
from notification t
where t.organization_id = $1 and t.user_id = $2 and t.web and t.notification_id = $3 for no key update of t;

-- notification: list
select t.notification_id, t.user_id, t.event_id, t.type, t.title, t.body, t.link, t.web, t.mail_id, t.read_time is not null as read, t.read_time, t.organization_id, t.version, t.created_time
from notification t
where t.organization_id = $1 and t.user_id = $2 and t.web;

-- notification: update
update notification t
set read_time = s.read_time,
  version = t.version + 1
from notification o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.notification_id = $2 and o.organization_id = $1 and o.notification_id = $2
  and (t.read_time) is distinct from (s.read_time)
returning t.notification_id, t.user_id, t.event_id, t.type, t.title, t.body, t.link, t.web, t.mail_id, t.read_time is not null as read, t.read_time, t.organization_id, t.version, t.created_time;

-- organization: get
select t.organization_id, t.domain, t.display_name, t.legal_name, t.postal_address, t.default_locale, t.locales, t.brand, t.time_zone, t.minimum_base, t.first_weekday, t.click_answers, t.accepts_provisional, t.anonymize_after_days, t.delete_after_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1 and t.organization_id = $2;

-- organization: get_locked
select t.organization_id, t.domain, t.display_name, t.legal_name, t.postal_address, t.default_locale, t.locales, t.brand, t.time_zone, t.minimum_base, t.first_weekday, t.click_answers, t.accepts_provisional, t.anonymize_after_days, t.delete_after_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1 and t.organization_id = $2 for no key update of t;

-- organization: list
select t.organization_id, t.domain, t.display_name, t.legal_name, t.postal_address, t.default_locale, t.locales, t.brand, t.time_zone, t.minimum_base, t.first_weekday, t.click_answers, t.accepts_provisional, t.anonymize_after_days, t.delete_after_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1;

-- organization: update
update organization t
set display_name = s.display_name, legal_name = s.legal_name, postal_address = s.postal_address, default_locale = s.default_locale, locales = s.locales, brand = s.brand, time_zone = s.time_zone, minimum_base = s.minimum_base, first_weekday = s.first_weekday, click_answers = s.click_answers, accepts_provisional = s.accepts_provisional, anonymize_after_days = s.anonymize_after_days, delete_after_days = s.delete_after_days,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from organization o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.organization_id = $2 and o.organization_id = $1 and o.organization_id = $2
  and (t.display_name, t.legal_name, t.postal_address, t.default_locale, t.locales, t.brand, t.time_zone, t.minimum_base, t.first_weekday, t.click_answers, t.accepts_provisional, t.anonymize_after_days, t.delete_after_days) is distinct from (s.display_name, s.legal_name, s.postal_address, s.default_locale, s.locales, s.brand, s.time_zone, s.minimum_base, s.first_weekday, s.click_answers, s.accepts_provisional, s.anonymize_after_days, s.delete_after_days)
returning t.organization_id, t.domain, t.display_name, t.legal_name, t.postal_address, t.default_locale, t.locales, t.brand, t.time_zone, t.minimum_base, t.first_weekday, t.click_answers, t.accepts_provisional, t.anonymize_after_days, t.delete_after_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- organization: get
select t.organization_id, t.anonymize_after_days, t.delete_after_days, t.texts_days, t.people_days, t.items_days, t.uploads_days, t.answers_days, t.events_days, t.audit_days, t.exports_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1 and t.organization_id = $2;

-- organization: get_locked
select t.organization_id, t.anonymize_after_days, t.delete_after_days, t.texts_days, t.people_days, t.items_days, t.uploads_days, t.answers_days, t.events_days, t.audit_days, t.exports_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1 and t.organization_id = $2 for no key update of t;

-- organization: list
select t.organization_id, t.anonymize_after_days, t.delete_after_days, t.texts_days, t.people_days, t.items_days, t.uploads_days, t.answers_days, t.events_days, t.audit_days, t.exports_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization t
where t.organization_id = $1;

-- organization: update
update organization t
set anonymize_after_days = s.anonymize_after_days, delete_after_days = s.delete_after_days, texts_days = s.texts_days, people_days = s.people_days, items_days = s.items_days, uploads_days = s.uploads_days, answers_days = s.answers_days, events_days = s.events_days, audit_days = s.audit_days, exports_days = s.exports_days,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from organization o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.organization_id = $2 and o.organization_id = $1 and o.organization_id = $2
  and (t.anonymize_after_days, t.delete_after_days, t.texts_days, t.people_days, t.items_days, t.uploads_days, t.answers_days, t.events_days, t.audit_days, t.exports_days) is distinct from (s.anonymize_after_days, s.delete_after_days, s.texts_days, s.people_days, s.items_days, s.uploads_days, s.answers_days, s.events_days, s.audit_days, s.exports_days)
returning t.organization_id, t.anonymize_after_days, t.delete_after_days, t.texts_days, t.people_days, t.items_days, t.uploads_days, t.answers_days, t.events_days, t.audit_days, t.exports_days, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- organization_billing: get
select o.organization_id, coalesce(t.name, coalesce(o.legal_name, o.display_name)) as name, t.address_lines, t.city, t.postal_code, t.country, t.tax_number, t.email, t.purchase_reference, t.currency, coalesce(t.version, 0) + 1 as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join organization_billing t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- organization_billing: get_locked
select o.organization_id, coalesce(t.name, coalesce(o.legal_name, o.display_name)) as name, t.address_lines, t.city, t.postal_code, t.country, t.tax_number, t.email, t.purchase_reference, t.currency, coalesce(t.version, 0) + 1 as version, coalesce(t.updated_time, o.created_time) as updated_time, t.updated_by
from organization o left join organization_billing t on t.organization_id = $1
where o.organization_id = $1 and o.organization_id = $2;

-- organization_billing: update
insert into organization_billing as t (organization_id, name, address_lines, city, postal_code, country, tax_number, email, purchase_reference, currency, updated_time, updated_by)
select $1, s.name, s.address_lines, s.city, s.postal_code, s.country, s.tax_number, s.email, s.purchase_reference, s.currency, $4, $5
from jsonb_populate_record(null::organization_billing, $3::jsonb) s
where $1::text = $2::text
on conflict (organization_id) do update set name = excluded.name, address_lines = excluded.address_lines, city = excluded.city, postal_code = excluded.postal_code, country = excluded.country, tax_number = excluded.tax_number, email = excluded.email, purchase_reference = excluded.purchase_reference, currency = excluded.currency,
  version = t.version + 1, updated_time = greatest(t.updated_time, excluded.updated_time),
  updated_by = excluded.updated_by
where t.organization_id = $1 and (t.name, t.address_lines, t.city, t.postal_code, t.country, t.tax_number, t.email, t.purchase_reference, t.currency) is distinct from (excluded.name, excluded.address_lines, excluded.city, excluded.postal_code, excluded.country, excluded.tax_number, excluded.email, excluded.purchase_reference, excluded.currency)
returning t.organization_id, t.name, t.address_lines, t.city, t.postal_code, t.country, t.tax_number, t.email, t.purchase_reference, t.currency, coalesce(t.version, 0) + 1 as version, t.updated_time, t.updated_by;

-- organization_user: get
select t.user_id, t.email, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.role, t.application_ids, t.only_where, t.only_values, t.active, t.service, t.invited_time, t.last_login_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization_user t
where t.organization_id = $1 and t.removed_time is null and t.user_id = $2;

-- organization_user: get_locked
select t.user_id, t.email, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.role, t.application_ids, t.only_where, t.only_values, t.active, t.service, t.invited_time, t.last_login_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization_user t
where t.organization_id = $1 and t.removed_time is null and t.user_id = $2 for no key update of t;

-- organization_user: list
select t.user_id, t.email, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.role, t.application_ids, t.only_where, t.only_values, t.active, t.service, t.invited_time, t.last_login_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from organization_user t
where t.organization_id = $1 and t.removed_time is null;

-- organization_user: insert
insert into organization_user as t (organization_id, user_id, role, email, first_name, middle_name, last_name, display_name, locale, time_zone, application_ids, only_where, only_values, active, service, invited_time,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.role, s.email, s.first_name, s.middle_name, s.last_name, s.display_name, s.locale, s.time_zone, s.application_ids, s.only_where, s.only_values, s.active, s.service, s.invited_time, $4, $4, $5, $5
from jsonb_populate_record(null::organization_user, $3::jsonb) s
returning t.user_id, t.email, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.role, t.application_ids, t.only_where, t.only_values, t.active, t.service, t.invited_time, t.last_login_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- organization_user: update
update organization_user t
set role = s.role, first_name = s.first_name, middle_name = s.middle_name, last_name = s.last_name, display_name = s.display_name, locale = s.locale, time_zone = s.time_zone, application_ids = s.application_ids, only_where = s.only_where, only_values = s.only_values, active = s.active,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from organization_user o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.user_id = $2 and o.organization_id = $1 and o.user_id = $2 and t.removed_time is null
  and (t.role, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.application_ids, t.only_where, t.only_values, t.active) is distinct from (s.role, s.first_name, s.middle_name, s.last_name, s.display_name, s.locale, s.time_zone, s.application_ids, s.only_where, s.only_values, s.active)
returning t.user_id, t.email, t.first_name, t.middle_name, t.last_name, t.display_name, t.locale, t.time_zone, t.role, t.application_ids, t.only_where, t.only_values, t.active, t.service, t.invited_time, t.last_login_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- plan: get
select t.plan_id, t.application_id, t.title, t.kind, t.credits, t.remaining_credits, t.extra_credits, t.features, t.state, t.start_time, t.renew_time, t.end_time, t.organization_id, t.version, t.created_time, t.updated_time
from plan t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.plan_id = $3;

-- plan: get_locked
select t.plan_id, t.application_id, t.title, t.kind, t.credits, t.remaining_credits, t.extra_credits, t.features, t.state, t.start_time, t.renew_time, t.end_time, t.organization_id, t.version, t.created_time, t.updated_time
from plan t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.plan_id = $3 for no key update of t;

-- plan: list
select t.plan_id, t.application_id, t.title, t.kind, t.credits, t.remaining_credits, t.extra_credits, t.features, t.state, t.start_time, t.renew_time, t.end_time, t.organization_id, t.version, t.created_time, t.updated_time
from plan t
where t.organization_id = $1 and (t.application_id is null or cardinality($2::text[]) = 0 or t.application_id = any($2));

-- public_link: get
select t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from public_link t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.link_id = $3;

-- public_link: get_locked
select t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from public_link t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.link_id = $3 for update of t;

-- public_link: list
select t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from public_link t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)));

-- public_link: list_of
select t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from public_link t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or exists (
    select from questionnaire q where q.organization_id = t.organization_id
      and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.questionnaire_id = $3;

-- public_link: count
select count(*) from public_link t where t.organization_id = $1;

-- public_link: insert
insert into public_link as t (organization_id, link_id, title, metadata, parameters, takes_reference, one_response_per, opens_time, closes_time, responses_max, locale, active, box, kiosk, questionnaire_id, key, kiosk_pin_hash,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.metadata, s.parameters, s.takes_reference, s.one_response_per, s.opens_time, s.closes_time, s.responses_max, s.locale, s.active, s.box, s.kiosk, s.questionnaire_id, s.key, s.kiosk_pin_hash, $4, $4, $5, $5
from jsonb_populate_record(null::public_link, $3::jsonb) s
returning t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- public_link: update
update public_link t
set title = s.title, metadata = s.metadata, parameters = s.parameters, takes_reference = s.takes_reference, one_response_per = s.one_response_per, opens_time = s.opens_time, closes_time = s.closes_time, responses_max = s.responses_max, locale = s.locale, active = s.active, box = s.box, kiosk = s.kiosk, kiosk_pin_hash = s.kiosk_pin_hash,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from public_link o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.link_id = $2 and o.organization_id = $1 and o.link_id = $2
  and (t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash) is distinct from (s.title, s.metadata, s.parameters, s.takes_reference, s.one_response_per, s.opens_time, s.closes_time, s.responses_max, s.locale, s.active, s.box, s.kiosk, s.kiosk_pin_hash)
returning t.link_id, t.questionnaire_id, t.key, t.title, t.metadata, t.parameters, t.takes_reference, t.one_response_per, t.opens_time, t.closes_time, t.responses_max, t.locale, t.active, t.box, t.kiosk, t.kiosk_pin_hash, t.kiosk_pin_hash is not null as has_kiosk_pin, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- public_link: delete
delete from public_link t where t.organization_id = $1 and t.link_id = $2;

-- report_digest: get
select t.digest_id, t.user_id, t.report_id, t.frequency, t.day, t.hour, t.locale, t.recipient, t.chat_id, t.comments, t.confirmed_time, t.due_time, t.sent_time, t.organization_id, t.created_time
from report_digest t
where t.organization_id = $1 and t.user_id = $2 and t.digest_id = $3;

-- report_digest: get_locked
select t.digest_id, t.user_id, t.report_id, t.frequency, t.day, t.hour, t.locale, t.recipient, t.chat_id, t.comments, t.confirmed_time, t.due_time, t.sent_time, t.organization_id, t.created_time
from report_digest t
where t.organization_id = $1 and t.user_id = $2 and t.digest_id = $3 for no key update of t;

-- report_digest: list
select t.digest_id, t.user_id, t.report_id, t.frequency, t.day, t.hour, t.locale, t.recipient, t.chat_id, t.comments, t.confirmed_time, t.due_time, t.sent_time, t.organization_id, t.created_time
from report_digest t
where t.organization_id = $1 and t.user_id = $2;

-- report_digest: insert
insert into report_digest as t (organization_id, digest_id, frequency, day, report_id, hour, locale, recipient, chat_id, comments, user_id, due_time,
  created_time)
select $1, $2, s.frequency, s.day, s.report_id, s.hour, s.locale, s.recipient, s.chat_id, s.comments, s.user_id, s.due_time, $4
from jsonb_populate_record(null::report_digest, $3::jsonb) s
returning t.digest_id, t.user_id, t.report_id, t.frequency, t.day, t.hour, t.locale, t.recipient, t.chat_id, t.comments, t.confirmed_time, t.due_time, t.sent_time, t.organization_id, t.created_time;

-- report_digest: delete
delete from report_digest t where t.organization_id = $1 and t.digest_id = $2;

-- response_theme: get
select t.theme_id, t.title, t.words, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from response_theme t
where t.organization_id = $1 and t.theme_id = $2;

-- response_theme: get_locked
select t.theme_id, t.title, t.words, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from response_theme t
where t.organization_id = $1 and t.theme_id = $2 for no key update of t;

-- response_theme: list
select t.theme_id, t.title, t.words, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from response_theme t
where t.organization_id = $1;

-- response_theme: count
select count(*) from response_theme t where t.organization_id = $1;

-- response_theme: insert
insert into response_theme as t (organization_id, theme_id, title, words,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.words, $4, $4, $5, $5
from jsonb_populate_record(null::response_theme, $3::jsonb) s
returning t.theme_id, t.title, t.words, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- response_theme: update
update response_theme t
set title = s.title, words = s.words,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from response_theme o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.theme_id = $2 and o.organization_id = $1 and o.theme_id = $2
  and (t.title, t.words) is distinct from (s.title, s.words)
returning t.theme_id, t.title, t.words, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- response_theme: delete
delete from response_theme t where t.organization_id = $1 and t.theme_id = $2;

-- response_view: get
select t.view_id, t.user_id, t.title, t.query, t.shared, t.organization_id, t.created_time
from response_view t
where t.organization_id = $1 and (t.user_id = $2 or t.shared) and t.view_id = $3;

-- response_view: get_locked
select t.view_id, t.user_id, t.title, t.query, t.shared, t.organization_id, t.created_time
from response_view t
where t.organization_id = $1 and (t.user_id = $2 or t.shared) and t.view_id = $3 for no key update of t;

-- response_view: list
select t.view_id, t.user_id, t.title, t.query, t.shared, t.organization_id, t.created_time
from response_view t
where t.organization_id = $1 and (t.user_id = $2 or t.shared);

-- response_view: insert
insert into response_view as t (organization_id, view_id, title, query, shared, user_id,
  created_time)
select $1, $2, s.title, s.query, s.shared, s.user_id, $4
from jsonb_populate_record(null::response_view, $3::jsonb) s
returning t.view_id, t.user_id, t.title, t.query, t.shared, t.organization_id, t.created_time;

-- response_view: delete
delete from response_view t where t.organization_id = $1 and t.view_id = $2;

-- sequence: get
select t.sequence_id, t.title, t.kind, t.from_questionnaire_id, t.pipeline_id, t.trigger, t.conditions, t.active, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from sequence t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or 2 = (
    select count(*) filter (where f.owner_application_id = any($2))
      + count(*) filter (where q.owner_application_id = any($2))
    from questionnaire f
    join pipeline p on p.organization_id = t.organization_id and p.pipeline_id = t.pipeline_id
    join questionnaire q on q.organization_id = t.organization_id and q.questionnaire_id = p.questionnaire_id
    where f.organization_id = t.organization_id and f.questionnaire_id = t.from_questionnaire_id)) and t.sequence_id = $3;

-- sequence: get_locked
select t.sequence_id, t.title, t.kind, t.from_questionnaire_id, t.pipeline_id, t.trigger, t.conditions, t.active, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from sequence t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or 2 = (
    select count(*) filter (where f.owner_application_id = any($2))
      + count(*) filter (where q.owner_application_id = any($2))
    from questionnaire f
    join pipeline p on p.organization_id = t.organization_id and p.pipeline_id = t.pipeline_id
    join questionnaire q on q.organization_id = t.organization_id and q.questionnaire_id = p.questionnaire_id
    where f.organization_id = t.organization_id and f.questionnaire_id = t.from_questionnaire_id)) and t.sequence_id = $3 for no key update of t;

-- sequence: list
select t.sequence_id, t.title, t.kind, t.from_questionnaire_id, t.pipeline_id, t.trigger, t.conditions, t.active, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from sequence t
where t.organization_id = $1 and (cardinality($2::text[]) = 0 or 2 = (
    select count(*) filter (where f.owner_application_id = any($2))
      + count(*) filter (where q.owner_application_id = any($2))
    from questionnaire f
    join pipeline p on p.organization_id = t.organization_id and p.pipeline_id = t.pipeline_id
    join questionnaire q on q.organization_id = t.organization_id and q.questionnaire_id = p.questionnaire_id
    where f.organization_id = t.organization_id and f.questionnaire_id = t.from_questionnaire_id));

-- sequence: count
select count(*) from sequence t where t.organization_id = $1;

-- sequence: insert
insert into sequence as t (organization_id, sequence_id, title, from_questionnaire_id, pipeline_id, kind, trigger, conditions, active,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.from_questionnaire_id, s.pipeline_id, s.kind, s.trigger, s.conditions, s.active, $4, $4, $5, $5
from jsonb_populate_record(null::sequence, $3::jsonb) s
returning t.sequence_id, t.title, t.kind, t.from_questionnaire_id, t.pipeline_id, t.trigger, t.conditions, t.active, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- sequence: update
update sequence t
set title = s.title, pipeline_id = s.pipeline_id, trigger = s.trigger, conditions = s.conditions, active = s.active,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from sequence o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.sequence_id = $2 and o.organization_id = $1 and o.sequence_id = $2
  and (t.title, t.pipeline_id, t.trigger, t.conditions, t.active) is distinct from (s.title, s.pipeline_id, s.trigger, s.conditions, s.active)
returning t.sequence_id, t.title, t.kind, t.from_questionnaire_id, t.pipeline_id, t.trigger, t.conditions, t.active, t.since_time, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- sequence: delete
delete from sequence t where t.organization_id = $1 and t.sequence_id = $2;

-- source: get
select t.source_id, t.title, t.kind, t.application_id, t.active, t.settings, t.sealed_secret is not null as has_secret, t.note_active, t.note_address, t.note_user, t.sealed_note_token is not null as has_note_token, t.note_sent_time, t.note_problem, t.note_disabled_time, t.last_time, t.refused_count, t.refused_time, t.problem, t.sealed_secret, t.sealed_note_token, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source t
where t.organization_id = $1 and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.source_id = $4;

-- source: get_locked
select t.source_id, t.title, t.kind, t.application_id, t.active, t.settings, t.sealed_secret is not null as has_secret, t.note_active, t.note_address, t.note_user, t.sealed_note_token is not null as has_note_token, t.note_sent_time, t.note_problem, t.note_disabled_time, t.last_time, t.refused_count, t.refused_time, t.problem, t.sealed_secret, t.sealed_note_token, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source t
where t.organization_id = $1 and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)) and t.source_id = $4 for no key update of t;

-- source: list
select t.source_id, t.title, t.kind, t.application_id, t.active, t.settings, t.sealed_secret is not null as has_secret, t.note_active, t.note_address, t.note_user, t.sealed_note_token is not null as has_note_token, t.note_sent_time, t.note_problem, t.note_disabled_time, t.last_time, t.refused_count, t.refused_time, t.problem, t.sealed_secret, t.sealed_note_token, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source t
where t.organization_id = $1 and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2));

-- source: count
select count(*) from source t where t.organization_id = $1;

-- source: insert
insert into source as t (organization_id, source_id, title, kind, application_id, active, settings, note_active, note_address, note_user, sealed_secret, sealed_note_token, test,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.kind, s.application_id, s.active, s.settings, s.note_active, s.note_address, s.note_user, s.sealed_secret, s.sealed_note_token, s.test, $4, $4, $5, $5
from jsonb_populate_record(null::source, $3::jsonb) s
returning t.source_id, t.title, t.kind, t.application_id, t.active, t.settings, t.sealed_secret is not null as has_secret, t.note_active, t.note_address, t.note_user, t.sealed_note_token is not null as has_note_token, t.note_sent_time, t.note_problem, t.note_disabled_time, t.last_time, t.refused_count, t.refused_time, t.problem, t.sealed_secret, t.sealed_note_token, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- source: update
update source t
set title = s.title, application_id = s.application_id, active = s.active, settings = s.settings, note_active = s.note_active, note_address = s.note_address, note_user = s.note_user, sealed_secret = s.sealed_secret, sealed_note_token = s.sealed_note_token,
  note_resume_time = null,
  note_failing_since = case when s.note_active and not t.note_active then null else t.note_failing_since end,
  note_disabled_time = case when s.note_active then null else t.note_disabled_time end,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from source o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.source_id = $2 and o.organization_id = $1 and o.source_id = $2
  and (t.title, t.application_id, t.active, t.settings, t.note_active, t.note_address, t.note_user, t.sealed_secret, t.sealed_note_token) is distinct from (s.title, s.application_id, s.active, s.settings, s.note_active, s.note_address, s.note_user, s.sealed_secret, s.sealed_note_token)
returning t.source_id, t.title, t.kind, t.application_id, t.active, t.settings, t.sealed_secret is not null as has_secret, t.note_active, t.note_address, t.note_user, t.sealed_note_token is not null as has_note_token, t.note_sent_time, t.note_problem, t.note_disabled_time, t.last_time, t.refused_count, t.refused_time, t.problem, t.sealed_secret, t.sealed_note_token, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- source: delete
delete from source t where t.organization_id = $1 and t.source_id = $2;

-- source_rule: get
select t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source_rule t
where t.organization_id = $1 and exists (select from source s where s.organization_id = t.organization_id and s.source_id = t.source_id
      and (s.test or not $3::boolean)
      and (cardinality($2::text[]) = 0 or s.application_id = any($2))) and t.source_rule_id = $4;

-- source_rule: get_locked
select t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source_rule t
where t.organization_id = $1 and exists (select from source s where s.organization_id = t.organization_id and s.source_id = t.source_id
      and (s.test or not $3::boolean)
      and (cardinality($2::text[]) = 0 or s.application_id = any($2))) and t.source_rule_id = $4 for no key update of t;

-- source_rule: list
select t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source_rule t
where t.organization_id = $1 and exists (select from source s where s.organization_id = t.organization_id and s.source_id = t.source_id
      and (s.test or not $3::boolean)
      and (cardinality($2::text[]) = 0 or s.application_id = any($2)));

-- source_rule: list_of
select t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from source_rule t
where t.organization_id = $1 and exists (select from source s where s.organization_id = t.organization_id and s.source_id = t.source_id
      and (s.test or not $3::boolean)
      and (cardinality($2::text[]) = 0 or s.application_id = any($2))) and t.source_id = $4;

-- source_rule: count
select count(*) from source_rule t where t.organization_id = $1;

-- source_rule: insert
insert into source_rule as t (organization_id, source_rule_id, what, pipeline_id, conditions, delay_days, delay_hours, unless, age_days_max, active, source_id,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.what, s.pipeline_id, s.conditions, s.delay_days, s.delay_hours, s.unless, s.age_days_max, s.active, s.source_id, $4, $4, $5, $5
from jsonb_populate_record(null::source_rule, $3::jsonb) s
returning t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- source_rule: update
update source_rule t
set what = s.what, pipeline_id = s.pipeline_id, conditions = s.conditions, delay_days = s.delay_days, delay_hours = s.delay_hours, unless = s.unless, age_days_max = s.age_days_max, active = s.active,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from source_rule o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.source_rule_id = $2 and o.organization_id = $1 and o.source_rule_id = $2
  and (t.what, t.pipeline_id, t.conditions, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active) is distinct from (s.what, s.pipeline_id, s.conditions, s.delay_days, s.delay_hours, s.unless, s.age_days_max, s.active)
returning t.source_rule_id, t.source_id, t.what, t.conditions, t.pipeline_id, t.delay_days, t.delay_hours, t.unless, t.age_days_max, t.active, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- source_rule: delete
delete from source_rule t where t.organization_id = $1 and t.source_rule_id = $2;

-- suppression: get
select t.suppression_id, t.channel_id, t.address_key, t.identifier, t.reason, t.expires_time, t.note, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from suppression t
where t.organization_id = $1 and t.suppression_id = $2;

-- suppression: get_locked
select t.suppression_id, t.channel_id, t.address_key, t.identifier, t.reason, t.expires_time, t.note, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from suppression t
where t.organization_id = $1 and t.suppression_id = $2 for no key update of t;

-- suppression: list
select t.suppression_id, t.channel_id, t.address_key, t.identifier, t.reason, t.expires_time, t.note, t.organization_id, t.version, t.created_time, t.created_by collate "C" as created_by
from suppression t
where t.organization_id = $1;

-- suppression: delete
delete from suppression t where t.organization_id = $1 and t.suppression_id = $2;

-- webhook: get
select t.webhook_id, t.title, t.active, t.target_url, t.questionnaire_id, t.application_id, t.event_types, t.consecutive_failures, t.disabled_time, t.failing_since, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from webhook t
where t.organization_id = $1 and t.deleted_time is null and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)
  or exists (select from questionnaire q where q.organization_id = t.organization_id
    and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.webhook_id = $4;

-- webhook: get_locked
select t.webhook_id, t.title, t.active, t.target_url, t.questionnaire_id, t.application_id, t.event_types, t.consecutive_failures, t.disabled_time, t.failing_since, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from webhook t
where t.organization_id = $1 and t.deleted_time is null and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)
  or exists (select from questionnaire q where q.organization_id = t.organization_id
    and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2))) and t.webhook_id = $4 for no key update of t;

-- webhook: list
select t.webhook_id, t.title, t.active, t.target_url, t.questionnaire_id, t.application_id, t.event_types, t.consecutive_failures, t.disabled_time, t.failing_since, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by
from webhook t
where t.organization_id = $1 and t.deleted_time is null and (t.test or not $3::boolean) and (cardinality($2::text[]) = 0 or t.application_id = any($2)
  or exists (select from questionnaire q where q.organization_id = t.organization_id
    and q.questionnaire_id = t.questionnaire_id and q.owner_application_id = any($2)));

-- webhook: count
select count(*) from webhook t where t.organization_id = $1 and t.deleted_time is null;

-- webhook: insert
insert into webhook as t (organization_id, webhook_id, title, target_url, active, questionnaire_id, application_id, event_types, test, secret,
  created_time, updated_time, created_by, updated_by)
select $1, $2, s.title, s.target_url, s.active, s.questionnaire_id, s.application_id, s.event_types, s.test, s.secret, $4, $4, $5, $5
from jsonb_populate_record(null::webhook, $3::jsonb) s
returning t.webhook_id, t.title, t.active, t.target_url, t.questionnaire_id, t.application_id, t.event_types, t.consecutive_failures, t.disabled_time, t.failing_since, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- webhook: update
update webhook t
set title = s.title, target_url = s.target_url, active = s.active, questionnaire_id = s.questionnaire_id, application_id = s.application_id, event_types = s.event_types,
  since_time = case when s.active and not t.active then now() else t.since_time end,
  disabled_time = case when s.active then null else t.disabled_time end,
  consecutive_failures = case when s.active and not t.active then 0 else t.consecutive_failures end,
  failing_since = case when s.active and not t.active then null else t.failing_since end,
  resume_time = case when s.active and not t.active then null else t.resume_time end,
  version = t.version + 1, updated_time = greatest(t.updated_time, $4), updated_by = $5
from webhook o, jsonb_populate_record(o, $3::jsonb) s
where t.organization_id = $1 and t.webhook_id = $2 and o.organization_id = $1 and o.webhook_id = $2 and t.deleted_time is null
  and (t.title, t.target_url, t.active, t.questionnaire_id, t.application_id, t.event_types) is distinct from (s.title, s.target_url, s.active, s.questionnaire_id, s.application_id, s.event_types)
returning t.webhook_id, t.title, t.active, t.target_url, t.questionnaire_id, t.application_id, t.event_types, t.consecutive_failures, t.disabled_time, t.failing_since, t.test, t.organization_id, t.version, t.created_time, t.updated_time, t.created_by collate "C" as created_by, t.updated_by collate "C" as updated_by;

-- webhook: delete
delete from webhook t where t.organization_id = $1 and t.webhook_id = $2;
