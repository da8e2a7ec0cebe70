/**
 * Returns the statements that shorten all intervals of the schedule to some seconds. No plan allows less than a minute,
 * but a short run needs many planned times, and a verdict is fresh for two intervals.
 */
export function shortenIntervals(seconds: number): readonly string[] {
  const interval = Math.trunc(seconds);
  return [
    `create function shorten_interval() returns trigger language plpgsql as $$
    begin
      new.interval_seconds := ${interval};
      new.phase_ms := new.phase_ms % ${interval * 1_000};
      return new;
    end $$`,
    `create trigger shorten_interval before insert or update of interval_seconds on monitor_slots
      for each row execute function shorten_interval()`,
  ];
}
