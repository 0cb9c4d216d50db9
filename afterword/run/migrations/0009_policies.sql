-- Contact policy, holidays, reminders.
set local lock_timeout = '4s';

create table contact_policy ( -- one per organization; the defaults hold where there is no row
  organization_id text collate "C" not null primary key references organization,
  enabled boolean not null default false,
  enabled_time timestamptz, -- from here on every send is written to `contact`; what went out before is read from instances
  invitations_max smallint not null default 1 check (invitations_max between 1 and 100),
  window_days smallint not null default 30 check (window_days between 1 and 365),
  response_window_days smallint check (response_window_days between 1 and 365),
  per_channel boolean not null default true,
  count_reminders boolean not null default false,
  if_exceeded text not null default 'skip' check (if_exceeded in ('wait', 'skip')),
  quiet_start_time time, quiet_end_time time,
  holiday_country text check (length(holiday_country) between 2 and 12), -- ISO 3166-1, perhaps with a subdivision
  holidays date[] not null default '{}' check (cardinality(holidays) <= 366),
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), updated_by text,
  check (enabled = (enabled_time is not null)),
  check ((quiet_start_time is null) = (quiet_end_time is null)), check (quiet_start_time <> quiet_end_time)
);

alter table pipeline add column on_holidays text not null default 'wait' check (on_holidays in ('wait', 'send'));
alter table pipeline add column capped_time timestamptz; -- given its cap then; what went out before is read from instances

-- reminders: the next one is inserted with the settlement that sends the one before, once ---------------------------
alter table queue_item add column reminder_number smallint check (reminder_number between 1 and 3);
alter table queue_item add constraint queue_item_reminder_source check (reminder_number is null or source = 'reminder');
create unique index queue_item_reminder on queue_item (organization_id, previous_item_id) where source = 'reminder';
create index queue_item_reminder_open on queue_item (organization_id, questionnaire_instance_id) where status = 1 and source = 'reminder';

-- Who else waits for the same address: asked only where a cap or the policy counts. Its condition is written unlike that
-- of claims: else the planner takes it for them on tables without statistics, and each reads all that its organization has.
create index queue_item_address on queue_item (organization_id, address_key) where status::int = 1;
