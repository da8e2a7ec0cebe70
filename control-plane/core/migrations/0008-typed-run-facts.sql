-- Facts that the code decides on get columns of their own; until now they were found inside JSON text.

-- true: failed because no probe was available, so nothing is known about the target.
alter table batch_targets add column unanswered boolean not null default false;

update batch_targets set unanswered = true
from batches
where batches.id = batch_id and batches.finished_at is null
  and batch_targets.status = 'failed' and starts_with(batch_targets.result, '{"code":"probe_unavailable",');

-- How many probes had begun at the location when it happened; null: written by a release without this column.
alter table measurement_events add column attempt integer;

update measurement_events set attempt = substring(data from '"attempt":([0-9]{1,9})')::integer
from measurements
where measurements.id = measurement_id and measurements.finished_at is null and event in ('probe', 'restart');
