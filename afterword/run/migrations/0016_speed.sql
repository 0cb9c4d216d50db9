-- Room in the pages of hot paths.
set local lock_timeout = '4s';

-- A batch issues and sends its instances together, and opens and closes its attempts together. Where a page has room
-- for all of them a second time, the second write stays in the page and touches no index.
alter table questionnaire_instance set (fillfactor = 45);
alter table attempt set (fillfactor = 45);
