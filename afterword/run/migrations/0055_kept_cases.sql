-- The first day from which the stages of cases are kept; null for counts of answers, which are kept from the first one.
set local lock_timeout = '4s';

alter table rollup_span add column kept_from date;
