-- The date of an item's metadata that the delay counts from, such as `questionnaire_metadata:order_date`.
set local lock_timeout = '4s';

alter table pipeline add column delay_from text check (length(delay_from) <= 300);
