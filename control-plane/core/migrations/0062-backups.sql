-- Backups by schedule: one row each, so that one replica at a time makes one, and all know of the newest.
create table backups (
  id bigint generated always as identity primary key,
  -- Name of the file, in the directory of the setting.
  file text not null,
  started_at timestamptz not null,
  -- null: it runs, or its replica was killed.
  ended_at timestamptz,
  bytes bigint,
  -- Why there is no file; null: there is one, if the backup has ended.
  error text
);

create index backups_start on backups (started_at);
