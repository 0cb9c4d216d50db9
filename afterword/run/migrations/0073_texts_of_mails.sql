-- Own texts of a mail beside subject and body: its button, the reason at its foot, and what follows it.
set local lock_timeout = '4s';

alter table pipeline
  add column message_button text check (length(message_button) between 1 and 60),
  add column message_reason text check (length(message_reason) between 1 and 500),
  add column message_footer text check (length(message_footer) between 1 and 1000);
