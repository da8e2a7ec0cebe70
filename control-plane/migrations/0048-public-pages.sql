-- The archive of a status page reads the incidents that began in one month.
create index incidents_start on incidents (account_id, started_at);
