-- Pools of coupon codes, of which each complete response gets at most one. A code is free until a response has it.
set local lock_timeout = '4s';

create table coupon_pool (
  organization_id text collate "C" not null references organization (organization_id),
  pool_id text collate "C" not null,
  key text collate "C" not null check (key ~ '^[a-z][a-z0-9_]{0,63}$'),
  title text not null check (length(title) between 1 and 200),
  low_count integer not null check (low_count between 0 and 1000000),
  version bigint not null default 1,
  created_time timestamptz not null,
  updated_time timestamptz not null,
  created_by text collate "C",
  updated_by text collate "C",
  primary key (organization_id, pool_id)
);
create unique index coupon_pool_key on coupon_pool (organization_id, key); -- definitions name a pool by it

create trigger audit after insert or update or delete on coupon_pool
  for each row execute function write_audit_entry('coupon_pool', 'pool_id', '');

create table coupon_code (
  organization_id text collate "C" not null,
  pool_id text collate "C" not null,
  code text collate "C" not null check (length(code) between 1 and 40),
  instance_id text collate "C",
  given_time timestamptz,
  created_time timestamptz not null,
  primary key (organization_id, pool_id, code),
  foreign key (organization_id, pool_id) references coupon_pool (organization_id, pool_id),
  check ((instance_id is null) = (given_time is null))
);
create unique index coupon_code_given on coupon_code (organization_id, instance_id, pool_id)
  where instance_id is not null; -- a response has one code of a pool
create index coupon_code_free on coupon_code (organization_id, pool_id, code)
  where instance_id is null; -- the next code to give
