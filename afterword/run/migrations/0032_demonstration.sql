alter table organization add column demonstration_time timestamptz; -- when customers and answers were made up for it, if they are
