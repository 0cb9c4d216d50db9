-- As of exports: a link shows the part of the data that its maker saw. The name of the metadata is first; null is everything.
alter table report_share add column limited_to text[];
