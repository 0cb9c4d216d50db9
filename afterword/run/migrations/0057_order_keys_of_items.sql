-- no transaction
create index concurrently queue_item_order_key on queue_item (organization_id, (left(coalesce(
    metadata -> 'questionnaire' ->> 'transaction_id', metadata -> 'questionnaire' ->> 'booking_no',
    metadata -> 'questionnaire' ->> 'case_id'), 100)))
  where deleted_time is null and coalesce(
    metadata -> 'questionnaire' ->> 'transaction_id', metadata -> 'questionnaire' ->> 'booking_no',
    metadata -> 'questionnaire' ->> 'case_id') is not null; -- people and messages are found by them
