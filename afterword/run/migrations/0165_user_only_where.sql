-- A user sees data with one of these values of a metadata name alone; null: all data.
alter table organization_user
  add column only_where text check (length(only_where) between 1 and 100),
  add column only_values text[] not null default '{}' check (cardinality(only_values) <= 50),
  add constraint organization_user_only check ((only_where is null) = (only_values = '{}'));
-- The limit of whoever asked for an export: the name, then the values.
alter table export add column limited_to text[];
