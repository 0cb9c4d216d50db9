-- The log's readers; alerts, their cases, comments, notifications.
set local lock_timeout = '4s';

-- How far each reader of the event log has come. Readers go by (xid, seq): a transaction's events are seen once
-- all transactions with smaller numbers have ended, so that none can commit behind the cursor.
create table event_cursor (
  reader text collate "C" primary key,
  xid xid8 not null default '0', seq bigint not null default 0,
  updated_time timestamptz not null default now()
);

-- alerts: the rules -----------------------------------------------------------------------------------------
create table alert_status (
  organization_id text collate "C" not null references organization,
  status_id integer not null check (status_id >= 1), -- below 100: the product's own, see below
  title text not null check (length(title) between 1 and 100),
  description text check (length(description) <= 500),
  color text not null check (color ~ '^#[0-9A-Fa-f]{6}$'),
  closing boolean not null default false,
  application_id text collate "C", -- null: the whole organization
  position integer not null default 0,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, status_id),
  foreign key (organization_id, application_id) references application
);

create table alert_status_number ( -- the last number given, so that none is given twice, not even a deleted one
  organization_id text collate "C" primary key references organization,
  last_status_id integer not null check (last_status_id >= 100)
);

-- The four that every organization has from its beginning: rows like the others, so that foreign keys hold for all.
create function insert_system_alert_statuses(organization_id text, now timestamptz) returns void language plpgsql as $$
begin
  insert into alert_status (organization_id, status_id, title, color, closing, created_time, updated_time)
  values ($1, 1, 'New', '#0f766e', false, $2, $2), ($1, 2, 'In progress', '#1d4ed8', false, $2, $2),
         ($1, 3, 'Closed', '#4b5563', true, $2, $2), ($1, 4, 'Dismissed', '#6b7280', true, $2, $2);
end $$;
create function give_system_alert_statuses() returns trigger language plpgsql as $$
begin
  perform insert_system_alert_statuses(new.organization_id, new.created_time);
  return null;
end $$;
select insert_system_alert_statuses(organization_id, created_time) from organization;
create trigger organization_alert_statuses after insert on organization
  for each row execute function give_system_alert_statuses();

create table alert (
  organization_id text collate "C" not null,
  alert_id text collate "C" not null,
  application_id text collate "C" not null,
  title text not null check (length(title) between 1 and 200),
  description text check (length(description) <= 2000),
  questionnaire_ids text[] not null default '{}' check (cardinality(questionnaire_ids) <= 100), -- empty: all of the application
  trigger text not null default 'completed' check (trigger in ('submitted', 'completed', 'schedule')),
  conditions jsonb,
  severity text not null default 'normal' check (severity in ('low', 'normal', 'high', 'critical')),
  active boolean not null default true,
  status_id integer not null default 1, -- of new cases
  assigned_user_id text collate "C",
  due_hours integer check (due_hours between 1 and 720),
  fold_hours integer not null default 0 check (fold_hours between 0 and 720),
  subscriber_user_ids text[] not null default '{}' check (cardinality(subscriber_user_ids) <= 100),
  open_count integer not null default 0 check (open_count >= 0), -- kept, not counted
  last_triggered_time timestamptz,
  since_time timestamptz not null default now(), -- what happened before does not concern it; by the clock of the event log
  evaluated_time timestamptz, -- trigger schedule: when its figures were last looked at
  deleted_time timestamptz, -- its cases stay
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, alert_id),
  foreign key (organization_id, application_id) references application,
  foreign key (organization_id, status_id) references alert_status,
  foreign key (organization_id, assigned_user_id) references organization_user on delete set null (assigned_user_id),
  check (trigger <> 'schedule' or conditions is not null)
) with (fillfactor = 80);
create index alert_list on alert (organization_id, created_time desc, alert_id) where deleted_time is null;
create index alert_active on alert (organization_id, application_id, trigger) where active and deleted_time is null;
create index alert_scheduled on alert (evaluated_time nulls first) where active and deleted_time is null and trigger = 'schedule';
create index alert_status_used on alert (organization_id, status_id);
create index alert_assigned on alert (organization_id, assigned_user_id) where assigned_user_id is not null;

-- alert instances: the cases that rules open ------------------------------------------------------------------
create table alert_instance (
  organization_id text collate "C" not null,
  alert_instance_id text collate "C" not null,
  alert_id text collate "C" not null,
  questionnaire_id text collate "C", instance_id text collate "C", responder_id text collate "C", -- of the first response; null: by schedule
  status_id integer not null,
  assigned_user_id text collate "C",
  severity text not null check (severity in ('low', 'normal', 'high', 'critical')),
  due_time timestamptz,
  occurrences integer not null default 1 check (occurrences >= 1),
  matched jsonb not null default '[]', -- what the conditions compared
  comments_count integer not null default 0 check (comments_count >= 0),
  resolved_time timestamptz, resolved_by text, -- set while its status is closing
  recovery_item_id text collate "C",
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), updated_by text,
  primary key (organization_id, alert_instance_id),
  foreign key (organization_id, alert_id) references alert,
  foreign key (organization_id, status_id) references alert_status,
  foreign key (organization_id, assigned_user_id) references organization_user on delete set null (assigned_user_id),
  check ((instance_id is null) = (questionnaire_id is null)), check (resolved_time is not null or resolved_by is null)
) with (fillfactor = 85);
create index alert_instance_list on alert_instance (organization_id, created_time desc, alert_instance_id);
create index alert_instance_of_alert on alert_instance (organization_id, alert_id, created_time desc, alert_instance_id);
create index alert_instance_open on alert_instance (organization_id, alert_id, responder_id, created_time desc) where resolved_time is null; -- repeats fold into these
create index alert_instance_status on alert_instance (organization_id, status_id);
create index alert_instance_assigned on alert_instance (organization_id, assigned_user_id) where assigned_user_id is not null;
create index alert_instance_response on alert_instance (organization_id, instance_id) where instance_id is not null;
create index alert_instance_responder on alert_instance (organization_id, responder_id) where responder_id is not null;

create table alert_occurrence ( -- one for each response (or day of a schedule) that an alert matched: what makes reading an event twice harmless
  organization_id text collate "C" not null,
  alert_id text collate "C" not null,
  cause text collate "C" not null check (length(cause) between 1 and 100), -- an instance_id, or a day
  alert_instance_id text collate "C" not null,
  created_time timestamptz not null default now(),
  primary key (organization_id, alert_id, cause),
  foreign key (organization_id, alert_instance_id) references alert_instance on delete cascade
);
create index alert_occurrence_of on alert_occurrence (organization_id, alert_instance_id);
create index alert_occurrence_cause on alert_occurrence (organization_id, cause);

create table alert_comment (
  organization_id text collate "C" not null,
  comment_id text collate "C" not null,
  alert_instance_id text collate "C" not null,
  author_id text collate "C" not null, -- the user, or the token of an organization
  user_id text collate "C",
  body text not null check (length(body) between 1 and 5000),
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  primary key (organization_id, comment_id),
  foreign key (organization_id, alert_instance_id) references alert_instance on delete cascade,
  check (user_id is null or user_id = author_id)
);
create index alert_comment_list on alert_comment (organization_id, alert_instance_id, created_time desc, comment_id);

-- notifications -----------------------------------------------------------------------------------------------
create table notification_subscription ( -- none: the defaults
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  types jsonb not null default '{}', -- event type -> {"web", "email"}
  digest text not null default 'none' check (digest in ('none', 'daily', 'weekly')),
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references organization_user on delete cascade
);

create table notification_watch (
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  entity text not null check (entity in ('organization', 'application', 'questionnaire', 'alert', 'user')),
  entity_id text collate "C" not null,
  place integer not null default 0,
  primary key (organization_id, user_id, entity, entity_id),
  foreign key (organization_id, user_id) references notification_subscription on delete cascade
);
create index notification_watch_of on notification_watch (organization_id, entity, entity_id);

create table notice_mail ( -- the queue of mails to users: one now, or one for a whole digest
  organization_id text collate "C" not null,
  mail_id text collate "C" not null,
  user_id text collate "C" not null,
  state text not null default 'waiting' check (state in ('waiting', 'claimed', 'sent', 'failed')),
  due_time timestamptz not null,
  attempts smallint not null default 0,
  epoch bigint not null default 0, lease_until timestamptz,
  error text check (length(error) <= 500),
  created_time timestamptz not null default now(), finished_time timestamptz,
  primary key (organization_id, mail_id),
  foreign key (organization_id, user_id) references organization_user on delete cascade,
  check ((state = 'claimed') = (lease_until is not null)), check ((state in ('sent', 'failed')) = (finished_time is not null))
) with (fillfactor = 80);
create index notice_mail_due on notice_mail (due_time) where state = 'waiting';
create index notice_mail_lease on notice_mail (lease_until) where state = 'claimed';
create index notice_mail_finished on notice_mail (finished_time) where finished_time is not null;
create unique index notice_mail_digest on notice_mail (organization_id, user_id, due_time) where state = 'waiting' and attempts = 0; -- a digest gathers until it is first tried

create table notification (
  organization_id text collate "C" not null,
  notification_id text collate "C" not null,
  user_id text collate "C" not null,
  event_id text collate "C" not null,
  type text not null,
  title text not null check (length(title) between 1 and 300),
  body text not null check (length(body) <= 2000),
  link text check (length(link) <= 500),
  web boolean not null default true, -- shown in the list; else it is there for a mail alone
  mail_id text collate "C",
  read_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(),
  primary key (organization_id, notification_id),
  unique (organization_id, user_id, event_id), -- an event is told once, however often it is read
  foreign key (organization_id, user_id) references organization_user on delete cascade,
  foreign key (organization_id, mail_id) references notice_mail on delete set null (mail_id)
) with (fillfactor = 90);
create index notification_list on notification (organization_id, user_id, created_time desc, notification_id) where web;
create index notification_age on notification (created_time);
create index notification_mail on notification (organization_id, mail_id) where mail_id is not null;
