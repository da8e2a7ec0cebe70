-- How many of the successful checks of an hour were slower than their monitor allows. Hours of before count none, and so
-- do those that a replica of the older release computes.
alter table check_hours add column slow integer not null default 0;

-- Whether a status page shows the response times of its monitors in the last day.
alter table status_pages add column response_graph boolean not null default false;
