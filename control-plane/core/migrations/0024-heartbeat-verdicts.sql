-- What pings say about the status of their heartbeat, until the state of the monitor knows it. A ping is answered when it
-- is recorded with its verdict, whatever follows from it, so the time to the answer does not show that it changed a
-- status. The state follows in a transaction of its own, and if its replica dies before, with the next visit.

alter table heartbeats
  -- JSON of the verdicts, oldest first: [[number of the ping, Unix milliseconds, what failed or null, duration or null],
  -- ...]. Those up to judged_number are done, and dropped by the next ping.
  add column verdicts text not null default '[]',
  -- Number of the ping of the newest one.
  add column verdict_number bigint not null default 0,
  -- The state of the monitor knows the verdicts of the pings up to this number. Written without a new version: the pings
  -- that are being recorded meanwhile stay valid.
  add column judged_number bigint not null default 0;

alter table heartbeat_decoys
  add column verdicts text not null default '[]',
  add column verdict_number bigint not null default 0;
