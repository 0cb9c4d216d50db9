alter table sending_guard
  add column jumped_time timestamptz, -- of a clock that was far ahead of the last look
  add column loss_counts integer[] check (array_length(loss_counts, 1) = 3); -- events, attempts, items
