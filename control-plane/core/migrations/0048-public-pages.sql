-- The archive of a status page reads the incidents that began in one month.
create index incidents_start on incidents (account_id, started_at);

-- Address of the site that a status page is about, which its visitors can go to; null: none.
alter table status_pages add column homepage_url text;
