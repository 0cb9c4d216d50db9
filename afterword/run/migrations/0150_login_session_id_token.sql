-- The ID token of a log-in through a provider: at log-out it says to the provider whose session ends.
set local lock_timeout = '4s';

alter table login_session add column id_token bytea check (length(id_token) <= 4000); -- sealed
