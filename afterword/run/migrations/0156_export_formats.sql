-- Exports for statistics programs and data frames.
set local lock_timeout = '4s';

alter table export drop constraint export_format_check,
  add constraint export_format_check check (format in ('csv', 'xlsx', 'jsonl', 'sav', 'parquet'));
