-- Each organization lists its captured messages, by time, pipeline or address.
set local lock_timeout = '4s';

alter table outbox_message add column pipeline_id text collate "C", add column test boolean not null default false;
create index outbox_message_list on outbox_message (organization_id, created_time desc, message_id);
create index outbox_message_pipeline on outbox_message (organization_id, pipeline_id, created_time desc, message_id);
create index outbox_message_recipient on outbox_message (organization_id, recipient, created_time desc, message_id);
