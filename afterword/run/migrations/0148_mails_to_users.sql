-- Mails to users stay in the operator's outbox; null: kept by an older release, which did not say
alter table outbox_message add column to_user boolean;
