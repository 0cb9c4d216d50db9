-- Themes of comments: a name, and the words by which a comment is counted.
set local lock_timeout = '4s';

create table response_theme (
  organization_id text collate "C" not null references organization,
  theme_id text collate "C" not null,
  title text not null check (length(title) between 1 and 100),
  words text[] not null check (cardinality(words) between 1 and 200),
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, theme_id)
);
create trigger audit after insert or update or delete on response_theme
  for each row execute function write_audit_entry('response_theme', 'theme_id', '');
