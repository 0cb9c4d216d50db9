-- The cluster whose transactions the event log counts: in another one, which a dump was restored into, they mean nothing.
create table event_cluster (system_identifier bigint primary key);
insert into event_cluster select system_identifier from pg_control_system();
-- A client that has read the last event of all goes on with it, also when it is gone.
alter table event_horizon add column event_id text collate "C";
