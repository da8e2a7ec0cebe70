import { parseRule } from "#control-plane/outages/maintenance/schedule/parse-rule.ts";
import { occurrencesBetween, type Schedule } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { openTimeZone, toInstant, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

/** Opens a time zone that must exist. */
export function zoneOf(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === null) throw new Error(`no time zone ${name}`);
  return zone;
}

/** Creates a schedule of one hour each time. `start` is a local time such as 2026-03-28T02:30. */
export function scheduleAt(zoneName: string, start: string, rrule: string | null): Schedule {
  const timeZone = zoneOf(zoneName);
  const parsed = rrule === null ? null : parseRule(rrule);
  if (parsed?.ok === false) throw new Error(parsed.message);
  const startsAt = toInstant(timeZone, Date.parse(`${start}Z`));
  return { startsAt, durationMs: 3_600_000, rule: parsed?.rule ?? null, timeZone };
}

/** Returns the first starts of a schedule within a number of days, as instants. */
export function firstStarts(schedule: Schedule, most: number, days: number): readonly number[] {
  const from = schedule.startsAt;
  return occurrencesBetween(schedule, { from, to: from + days * 86_400_000 })
    .slice(0, most)
    .map((one) => one.from);
}

/** Returns an instant as clocks of the zone show it, to the minute. */
export function showLocal(zone: TimeZone, instant: number): string {
  return new Date(toLocal(zone, instant)).toISOString().slice(0, 16);
}
