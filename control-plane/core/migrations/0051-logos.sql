-- The logo of a status page, apart from its settings, which are read without it. The type is that of the first bytes, the
-- size is in pixels, and the hash (base64url of SHA-256, 22 characters) is a part of its address.
create table status_page_logos (
  page_id bigint primary key references status_pages on delete cascade,
  type text not null,
  width integer not null,
  height integer not null,
  hash text not null,
  content bytea not null
);
-- Compressed formats do not get smaller.
alter table status_page_logos alter column content set storage external;
