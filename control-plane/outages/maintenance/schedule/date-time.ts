import { toInstant, toLocal, type TimeZone } from "#control-plane/core/time-zone.ts";

/** Why a text is no date-time, as a sentence without subject; or the instant in Unix milliseconds. */
type ReadTime = { readonly ok: true; readonly at: number } | { readonly ok: false; readonly message: string };

const FORM = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?$/i;
const FIRST = Date.UTC(2000, 0, 1);
const LAST = Date.UTC(2100, 0, 1);

/**
 * Reads a date-time as in RFC 3339, to the second. A time without Z or an offset is what clocks of the zone show; it is
 * refused if they skip it. The year is 2000 to 2099.
 */
export function readDateTime(text: string, zone: TimeZone): ReadTime {
  const found = FORM.exec(text);
  if (found === null) {
    return refuse("must be a date and time such as 2026-03-29T01:30:00Z, or without Z in the time zone of the window");
  }
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "00", offset] = found;
  const local = civilTime([year, month, day, hour, minute, second].map(Number));
  if (local === null) return refuse("names a day or time that does not exist");
  const at = offset === undefined ? toInstant(zone, local) : local - offsetMs(offset);
  if (at < FIRST || at >= LAST) return refuse("must be between the years 2000 and 2099");
  if (offset === undefined && toLocal(zone, at) !== local) {
    return refuse(`does not exist in ${zone.name}: clocks are put forward over it; add an offset such as +02:00`);
  }
  return { ok: true, at };
}

/** Returns a date and time as milliseconds from 1970-01-01T00:00; null if there is no such day or time. */
export function civilTime(parts: readonly number[]): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(at);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? at : null;
}

function offsetMs(offset: string): number {
  if (offset === "Z" || offset === "z") return 0;
  const ms = (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * 60_000;
  return offset.startsWith("-") ? -ms : ms;
}

function refuse(message: string): ReadTime {
  return { ok: false, message };
}
