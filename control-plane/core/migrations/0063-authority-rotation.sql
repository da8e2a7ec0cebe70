-- A second authority, which takes the place of the first one: its id is the next number.
alter table authority drop constraint authority_id_check;
-- The authority that issued the newest certificate.
alter table probes add column authority_id smallint not null default 1;
