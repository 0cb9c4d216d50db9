-- Jobs of workers that the limit of a statement ended, for the figures and the doctor.
set local lock_timeout = '4s';

create table job_timeout (
  name text primary key,
  total bigint not null,
  last_time timestamptz not null
);
