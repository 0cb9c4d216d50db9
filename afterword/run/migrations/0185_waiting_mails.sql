-- no transaction
create index concurrently notice_mail_waiting on notice_mail (coalesce(chat_id, source_id, ''), due_time)
  where state = 'waiting'; -- mails to users, and the calls of each chat and source, in their order
