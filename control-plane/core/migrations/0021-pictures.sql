-- Pictures of visual monitors, and what is known from comparing them.

-- One row a monitor of check type visual.
create table visual_states (
  monitor_id bigint primary key references monitors on delete cascade,
  -- Rises with every change of this row. A writer names the version it has read.
  version bigint not null default 0,
  -- JSON of the settings on which the look of pictures depends (monitors/visual-basis.ts). Pictures taken with others are
  -- dropped.
  basis text not null,
  -- Ids in pictures. The accepted picture, to which others are compared; null: none yet.
  accepted_id bigint,
  accepted_at timestamptz,
  -- The newest picture, its difference in percent of the pixels, and the picture that shows the difference.
  latest_id bigint,
  latest_at timestamptz,
  latest_ratio double precision,
  difference_id bigint,
  -- The comparison from which latest_ratio comes: the accepted picture and the ignored regions.
  compared text,
  -- The newest picture whose change was announced, and its difference; null: the page looks as accepted.
  announced_id bigint,
  announced_difference_id bigint,
  -- JSON of the fault of the newest check, if it gave no picture.
  fault text
);

create table pictures (
  id bigint generated always as identity primary key,
  monitor_id bigint not null references visual_states on delete cascade,
  kind text not null check (kind in ('taken', 'difference')),
  taken_at timestamptz not null,
  sha256 bytea not null check (octet_length(sha256) = 32),
  width integer not null,
  height integer not null,
  size integer not null,
  -- PNG, which is compressed already.
  content bytea not null,
  unique (monitor_id, sha256)
);
alter table pictures alter column content set storage external;

create index pictures_taken_at on pictures (taken_at);
