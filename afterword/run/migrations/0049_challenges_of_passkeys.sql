-- Challenges that a passkey has answered: each works once. They are sealed, so nothing is stored before an answer.
set local lock_timeout = '4s';

create table login_challenge (
  digest bytea primary key check (length(digest) = 32),
  expires_time timestamptz not null
);
create index login_challenge_end on login_challenge (expires_time);
