-- How far the clock of an organization's test items is ahead.
set local lock_timeout = '4s';

alter table organization add column test_clock_seconds integer not null default 0
  check (test_clock_seconds between 0 and 34560000); -- 400 days
