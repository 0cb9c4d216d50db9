-- Whether somebody scheduled or changed the item who reaches some applications alone: it changes nobody whom others ask.
alter table queue_item add column limited boolean not null default false;
