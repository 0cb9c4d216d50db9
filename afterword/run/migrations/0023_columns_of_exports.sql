-- Exports with the order key and the recipient of each response, and CSV with a byte-order mark, for spreadsheets.
alter table export add column include_recipient boolean not null default false,
  add column byte_order_mark boolean not null default false;
