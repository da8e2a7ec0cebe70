import { type Read, type FieldProblem, refuse } from "#shared/schema/problem.ts";
import { readStored } from "#control-plane/http/resource.ts";
import { readDateTime } from "#control-plane/outages/maintenance/schedule/date-time.ts";
import { parseRule } from "#control-plane/outages/maintenance/schedule/parse-rule.ts";
import { nextStart, type Schedule } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { type Given, maintenanceWindow } from "#control-plane/outages/maintenance/resource.ts";
import type { WindowSettings } from "#control-plane/outages/maintenance/window.ts";
import { openTimeZone, type TimeZone } from "#control-plane/core/time-zone.ts";

const LEAST_SECONDS = 60;
const MOST_SECONDS = 2_592_000;
const TAG = /^[a-z0-9:_./-]{1,50}$/;

/**
 * Reads the settings of a new window (`current` is null), or applies a change to those of an existing one. Fields that
 * are not given keep their values; ends_at keeps its value if only starts_at is given. Monitors are not looked up.
 */
export function readWindow(given: Given, current: WindowSettings | null, now: Date): Read<WindowSettings> {
  const fields = readStored(maintenanceWindow, given, current);
  if (!fields.ok) return fields;
  const { timezone } = fields.value;
  const zone = openTimeZone(timezone);
  if (zone === null) throw new Error(`not a time zone: ${timezone}`);
  const covered = readCovered(given, current);
  if (!covered.ok) return covered;
  const startsAt = readStart(given, current, zone);
  if (!startsAt.ok) return startsAt;
  const rrule = readRule(given, current);
  if (!rrule.ok) return rrule;
  const duration = readDuration(given, current, { startsAt: startsAt.value, rrule: rrule.value, zone });
  if (!duration.ok) return duration;
  const settings: WindowSettings = {
    ...fields.value,
    ...covered.value,
    startsAt: new Date(startsAt.value),
    durationSeconds: duration.value,
    rrule: rrule.value,
    isPublic: given.public ?? current?.isPublic ?? false,
    isCancelled: isCancelled(given, current),
  };
  const problem = opensLater(settings, current, now);
  return problem === null ? { ok: true, value: settings } : { ok: false, problem };
}

/** Returns when stored settings make a window open. Settings that readWindow has not returned are a bug. */
export function scheduleOf({
  startsAt,
  durationSeconds,
  rrule,
  timezone,
}: Pick<WindowSettings, "startsAt" | "durationSeconds" | "rrule" | "timezone">): Schedule {
  const timeZone = openTimeZone(timezone);
  const parsed = rrule === null ? null : parseRule(rrule);
  if (timeZone === null || parsed?.ok === false) throw new Error(`not a schedule: ${rrule ?? "once"} in ${timezone}`);
  return { startsAt: startsAt.getTime(), durationMs: durationSeconds * 1_000, rule: parsed?.rule ?? null, timeZone };
}

function isCancelled({ status }: Given, current: WindowSettings | null): boolean {
  // Clients send back whole records. Only these two words differ from what the record says by itself.
  if (status === "cancelled") return true;
  return status === "scheduled" ? false : (current?.isCancelled ?? false);
}

function readCovered(given: Given, current: WindowSettings | null): Read<Pick<WindowSettings, "monitorIds" | "tags">> {
  const monitorIds = [...new Set(given.monitor_ids ?? current?.monitorIds)];
  const tags = [...new Set(given.tags ?? current?.tags)];
  const wrong = tags.findIndex((tag) => !TAG.test(tag));
  if (wrong >= 0) return refuse(`tags.${wrong}`, "type", "must be 1 to 50 of the characters a-z 0-9 : _ . / -");
  // The monitors of a window can be deleted; then other fields can still be changed.
  const isChanged = current === null || given.monitor_ids !== undefined || given.tags !== undefined;
  if (isChanged && monitorIds.length + tags.length === 0) {
    return refuse("monitor_ids", "required", "give the id of at least one monitor, or a tag in tags");
  }
  return { ok: true, value: { monitorIds, tags } };
}

function readStart(given: Given, current: WindowSettings | null, zone: TimeZone): Read<number> {
  if (given.starts_at === undefined) {
    return current === null
      ? refuse("starts_at", "required", "is required")
      : { ok: true, value: current.startsAt.getTime() };
  }
  return readTime("starts_at", given.starts_at, zone);
}

function readTime(field: string, text: string, zone: TimeZone): Read<number> {
  const read = readDateTime(text, zone);
  return read.ok ? { ok: true, value: read.at } : refuse(field, "type", read.message);
}

function readRule(given: Given, current: WindowSettings | null): Read<string | null> {
  if (given.rrule === undefined) return { ok: true, value: current?.rrule ?? null };
  if (given.rrule === null) return { ok: true, value: null };
  const parsed = parseRule(given.rrule);
  return parsed.ok ? { ok: true, value: parsed.text } : refuse("rrule", "type", parsed.message);
}

function readDuration(
  given: Given,
  current: WindowSettings | null,
  { startsAt, rrule, zone }: { readonly startsAt: number; readonly rrule: string | null; readonly zone: TimeZone },
): Read<number> {
  const { ends_at: endsAt = null, duration_seconds: seconds = null } = given;
  if (rrule !== null) {
    if (endsAt !== null) return refuse("ends_at", "unknown", "cannot be used with rrule; give duration_seconds");
    const duration = seconds ?? current?.durationSeconds ?? null;
    if (duration === null) return refuse("duration_seconds", "required", "is required with rrule");
    return inRange("duration_seconds", duration);
  }
  if (endsAt !== null && seconds !== null) {
    return refuse("duration_seconds", "unknown", "cannot be used with ends_at; give one of them");
  }
  if (endsAt !== null) {
    const end = readTime("ends_at", endsAt, zone);
    return end.ok ? inRange("ends_at", (end.value - startsAt) / 1_000) : end;
  }
  if (seconds !== null) return inRange("duration_seconds", seconds);
  if (current === null) return refuse("ends_at", "required", "is required without rrule");
  const isMoved = current.rrule === null && given.starts_at !== undefined;
  const movedBy = isMoved ? (startsAt - current.startsAt.getTime()) / 1_000 : 0;
  return inRange("ends_at", current.durationSeconds - movedBy);
}

function inRange(field: "ends_at" | "duration_seconds", seconds: number): Read<number> {
  if (seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS) return { ok: true, value: seconds };
  const range = "60 seconds to 30 days";
  const message = field === "ends_at" ? `must be ${range} after starts_at` : `must be ${range}`;
  return refuse(field, "range", message);
}

/**
 * Returns the problem with a schedule that was given and is over or never starts. Other fields of a window that is over
 * can be changed.
 */
function opensLater(settings: WindowSettings, current: WindowSettings | null, now: Date): FieldProblem | null {
  if (settings.isCancelled || (current !== null && !current.isCancelled && isSameSchedule(settings, current)))
    return null;
  const { rrule, durationSeconds } = settings;
  if (nextStart(scheduleOf(settings), now.getTime() - durationSeconds * 1_000 + 1) !== null) return null;
  return rrule === null
    ? { field: "ends_at", reason: "range", message: "must be in the future" }
    : { field: "rrule", reason: "range", message: "has no occurrence from starts_at and from now on" };
}

function isSameSchedule(a: WindowSettings, b: WindowSettings): boolean {
  const isSameTime = a.startsAt.getTime() === b.startsAt.getTime() && a.durationSeconds === b.durationSeconds;
  return isSameTime && a.rrule === b.rrule && a.timezone === b.timezone;
}
