-- Whether a click on a score in a mail is an answer, and whether provisional answers are accepted by themselves.
set local lock_timeout = '4s';

alter table organization add column click_answers boolean not null default true,
  add column accepts_provisional boolean not null default true;
