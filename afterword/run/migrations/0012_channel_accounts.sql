-- Provider accounts: several an organization and channel, each with its own login; one of them is the default.
set local lock_timeout = '4s';

alter table channel_account
  add column kind text not null default 'default'
    check (kind in ('default', 'smtp', 'sms_http', 'sms_twilio', 'smpp', 'webhook')), -- default: the installation's own way
  add column title text check (length(title) between 1 and 200),
  add column settings bytea check (length(settings) <= 100000), -- sealed
  add column is_default boolean not null default false, -- what pipelines of its channel send through
  add column version bigint not null default 1, -- of kind, title, settings and slots: what a worker builds its channel by
  add constraint channel_account_settings check ((kind = 'default') = (settings is null)),
  add constraint channel_account_kind check (
    kind = 'default' or channel_id = case kind when 'smtp' then 1 when 'webhook' then 3 else 2 end);
update channel_account set is_default = true;
alter table channel_account drop constraint channel_account_organization_id_channel_id_key;
create unique index channel_account_default on channel_account (organization_id, channel_id) where is_default;
