-- The languages of an organization's customers, and the logo that its first questionnaires get.
set local lock_timeout = '4s';

alter table organization add column locales text[] not null default '{}', -- empty: not said
  add column logo text check (length(logo) <= 70000); -- a data: address
