-- Days before this one are not counted again: the answers that they were counted from were removed by their age.
set local lock_timeout = '4s';

alter table rollup_span add column frozen_until date;
