-- Indexes for the survey of all monitors, which runs every 10 s and read both tables as a whole.

-- To go from one location to the next, and to find one slot of it. Its columns never change, but every recorded check
-- enters it again, like the primary key, because due_at is indexed. That makes the update of a slot about a tenth slower.
create index monitor_slots_location on monitor_slots (location, account_id);

-- The active monitors whose changes are to be mailed (monitors/survey/store.ts has the same condition).
create index monitors_asking_for_mail on monitors (id) where is_active and settings like '%"notify_email":true%';
