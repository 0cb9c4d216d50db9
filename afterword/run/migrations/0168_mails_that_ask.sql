-- The mail that asks an address whether it wants a digest.
set local lock_timeout = '4s';

alter table notice_mail drop constraint notice_mail_purpose_check, add constraint notice_mail_purpose_check
  check (purpose in ('invitation', 'reset', 'address', 'warning', 'digest', 'answer', 'consent')) not valid;
