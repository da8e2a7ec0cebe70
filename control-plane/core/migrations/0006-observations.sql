-- Host names that checks have seen at an address, for those who ask what else stands there.
create table observations (
  ip text not null,
  host text not null,
  -- 0: seen by a caller without an account, shown to everybody; else to that account alone. No foreign key: what is written
  -- a moment after an account was erased goes with the next pruning.
  account_id bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (ip, account_id, host)
);

create index observations_age on observations (last_seen);
create index observations_account on observations (account_id) where account_id <> 0;
