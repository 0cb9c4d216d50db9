-- Networks from which a token may be used; empty: from anywhere.
set local lock_timeout = '4s';

alter table token add column networks text[] not null default '{}' check (cardinality(networks) <= 100);
