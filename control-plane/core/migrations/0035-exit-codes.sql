-- Exit codes of 32 bits, signed and unsigned: those of Windows.
alter table heartbeat_pings alter column exit_code type bigint;
alter table heartbeat_decoy_pings alter column exit_code type bigint;
