-- Networks from which the tokens of an organization may be used; empty: from anywhere.
set local lock_timeout = '4s';

alter table login_policy add column token_networks text[] not null default '{}' check (cardinality(token_networks) <= 100);
