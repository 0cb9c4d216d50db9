-- When somebody closed the list of first steps on the overview.
alter table organization add column first_steps_closed_time timestamptz;
