-- When a monitor is looked at although no check of it has ended: its newest results get too old without any event, for
-- example when no agent is left. Checks leave it as it is, so that the update of a state touches no index; it moves when
-- the row is visited, and when the row needs an earlier visit. null: no visit is needed. At first all are visited.

alter table monitor_states add column visit_at timestamptz default '-infinity';

create index monitor_states_visit on monitor_states (visit_at) where visit_at is not null;
