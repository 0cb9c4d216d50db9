-- When the message of an instance was first reported as bounced or failed; reports of before are not looked up.
set local lock_timeout = '4s';

alter table questionnaire_instance add column bounced_time timestamptz;
