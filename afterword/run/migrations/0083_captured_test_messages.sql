-- Test messages that test tokens ask for stay in the outbox.
alter table trial add column captured boolean not null default false;
