-- The hours of the day that is not over are counted too, so that reports read few of its answers.
set local lock_timeout = '4s';

alter table rollup_span add column hours_until timestamptz; -- the end of the kept hours of its day
alter table rollup_span add column hours_generation bigint; -- another one than the span's: none is kept
alter table rollup_dirty add column hours text[]; -- of the dimension `hour`; null: all of the day
create index rollup_dirty_hours on rollup_dirty (marked_time) where dimension = 'hour';
