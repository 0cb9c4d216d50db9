-- When a person last resumed an account: what was claimed before that tells nothing new of it.
alter table channel_account add column resumed_time timestamptz;
