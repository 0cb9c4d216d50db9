-- The record of a list says which file it was.
set local lock_timeout = '4s';

alter table queue_list add column digest text check (length(digest) = 64);
