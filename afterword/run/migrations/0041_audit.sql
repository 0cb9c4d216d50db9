-- Who changed, read or took what. A change of a table below is noted by its trigger, in the transaction of the change;
-- the setting afterword.actor names its author: kind, id, role.
create table audit_entry (
  organization_id text collate "C" not null, -- no foreign key: what was done stays known
  entry_id text collate "C" not null default left(replace(gen_random_uuid()::text, '-', ''), 22),
  created_time timestamptz not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('user', 'token', 'system', 'command')),
  actor_id text collate "C", -- of a user or a token: names are looked up, and go with the user
  actor_role text,
  action text not null check (action ~ '^[a-z_]{1,50}$'),
  thing_kind text not null check (thing_kind ~ '^[a-z_]{1,50}$'),
  thing_id text collate "C" check (length(thing_id) <= 100),
  thing_name text check (length(thing_name) <= 200), -- never of a person
  before jsonb, after jsonb, -- of what changed; long and secret values are a dash
  device text check (length(device) <= 200), network text check (length(network) <= 50), -- of a log-in
  primary key (organization_id, entry_id)
);
create index audit_entry_time on audit_entry (organization_id, created_time desc, entry_id);
create index audit_entry_actor on audit_entry (organization_id, actor_id, created_time desc) where actor_id is not null;
create index audit_entry_thing on audit_entry (organization_id, thing_kind, thing_id, created_time desc);
create index audit_entry_age on audit_entry (created_time);

-- The author of this transaction, as an array of kind, id and role.
create function audit_actor() returns text[] language sql stable as $$
  select case when current_setting('afterword.actor', true) <> ''
    then string_to_array(current_setting('afterword.actor', true), ' ', '')
    when current_setting('application_name') = 'afterword command' then '{command}' else '{system}' end
$$;

create function audit_value(name text, value jsonb, hidden text[]) returns jsonb language sql immutable as $$
  select case when value is null or value = 'null' then null
    when name = any(hidden) or value #>> '{}' like '\\x%' or length(value::text) > 1000 then '"—"' else value end
$$;

-- Arguments: kind of the thing, column of its id, columns with values that are not shown, name of an insertion.
create function write_audit_entry() returns trigger language plpgsql as $$
declare
  old_row jsonb := to_jsonb(old);
  new_row jsonb := to_jsonb(new);
  any_row jsonb := coalesce(new_row, old_row);
  hidden text[] := string_to_array(tg_argv[2], ' ');
  actor text[] := audit_actor();
  ours constant text[] := '{organization_id,version,revision,created_time,created_by,updated_time,updated_by,
    last_used_time,last_login_time,last_triggered_time,open_count,evaluated_time,since_time,consecutive_failures,
    failing_since,resume_time,resumed_time,invited_time,capped_time,enabled_time,tokens,refilled_time,failures,
    open_until,has_domain_rates}';
  was jsonb;
  is_now jsonb;
  act text;
begin
  select jsonb_object_agg(key, audit_value(key, old_row -> key, hidden)),
    jsonb_object_agg(key, audit_value(key, new_row -> key, hidden)) into was, is_now
  from jsonb_object_keys(any_row) key
  where nullif(old_row -> key, 'null') is distinct from nullif(new_row -> key, 'null')
    and key <> all(ours) and key <> tg_argv[1];
  if tg_op = 'UPDATE' and is_now is null then
    return null;
  end if;
  act := case
    when tg_op = 'INSERT' then coalesce(tg_argv[3], 'created')
    when tg_op = 'DELETE' or coalesce(is_now ->> 'deleted_time', is_now ->> 'removed_time', is_now ->> 'revoked_time',
      is_now ->> 'archived_time') is not null then 'deleted'
    else 'changed' end;
  insert into audit_entry (organization_id, actor_kind, actor_id, actor_role, action, thing_kind, thing_id, thing_name,
    before, after)
  values (any_row ->> 'organization_id', actor[1], actor[2], actor[3], act, tg_argv[0], any_row ->> tg_argv[1],
    case when 'display_name' <> all(hidden)
      then left(coalesce(any_row ->> 'display_name', any_row ->> 'title', any_row ->> 'name'), 200) end,
    case when tg_op <> 'INSERT' then was end, case when tg_op <> 'DELETE' then is_now end);
  return null;
end
$$;

-- Rows stay as they were written. Only retention removes them, by this function.
create function prune_audit_entries(until timestamptz, rows_max integer) returns bigint language plpgsql as $$
declare
  removed bigint;
begin
  delete from audit_entry e using (
    select organization_id, entry_id from audit_entry where created_time < until order by created_time limit rows_max) old
  where e.organization_id = old.organization_id and e.entry_id = old.entry_id;
  get diagnostics removed = row_count;
  return removed;
end
$$;

create function refuse_audit_change() returns trigger language plpgsql as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  if tg_op = 'DELETE' and stack like '%prune\_audit\_entries(%' then
    return old;
  end if;
  raise exception 'the audit log is not changed' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_entry_kept before update or delete on audit_entry
  for each row execute function refuse_audit_change();
create trigger audit_entry_kept_whole before truncate on audit_entry
  for each statement execute function refuse_audit_change();

create trigger audit after insert or update or delete on organization
  for each row execute function write_audit_entry('organization', 'organization_id', '');
create trigger audit after insert or update or delete on application
  for each row execute function write_audit_entry('application', 'application_id', '');
create trigger audit after insert or update or delete on organization_user for each row
  execute function write_audit_entry('user', 'user_id', 'email first_name middle_name last_name display_name');
create trigger audit after insert or update or delete on organization_billing
  for each row execute function write_audit_entry('billing', 'organization_id', 'email');
create trigger audit after insert or delete on organization_sender_domain
  for each row execute function write_audit_entry('sender_domain', 'domain', '');
create trigger audit after insert or update or delete on token
  for each row execute function write_audit_entry('token', 'token_id', 'selector verifier_digest');
create trigger audit after insert or update or delete on webhook
  for each row execute function write_audit_entry('webhook', 'webhook_id', 'secret previous_secret');
create trigger audit after insert or update or delete on metadata_definition
  for each row execute function write_audit_entry('metadata', 'metadata_id', '');
create trigger audit after insert or update or delete on questionnaire
  for each row execute function write_audit_entry('questionnaire', 'questionnaire_id', '');
create trigger audit after insert on questionnaire_version
  for each row execute function write_audit_entry('questionnaire', 'questionnaire_id', 'definition', 'published');
create trigger audit after insert or update or delete on questionnaire_visual
  for each row execute function write_audit_entry('visual', 'visual_id', '');
create trigger audit after insert or update or delete on contact_policy
  for each row execute function write_audit_entry('contact_policy', 'organization_id', '');
create trigger audit after insert or update or delete on sequence
  for each row execute function write_audit_entry('sequence', 'sequence_id', '');
create trigger audit after insert or update or delete on alert_status
  for each row execute function write_audit_entry('alert_status', 'status_id', '');
create trigger audit after insert or update or delete on custom_report
  for each row execute function write_audit_entry('report', 'report_id', '');
create trigger audit after insert or update or delete on inbound_endpoint
  for each row execute function write_audit_entry('inbound', 'inbound_id', 'settings confirm_url');
create trigger audit after insert on erasure
  for each row execute function write_audit_entry('erasure', 'erasure_id', 'reason salt');
create trigger audit after insert on export
  for each row execute function write_audit_entry('export', 'export_id', 'owner filter');
