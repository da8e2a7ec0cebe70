/** A time zone of the IANA database, as the runtime knows it. */
export interface TimeZone {
  readonly name: string;
  /** Returns the offset from UTC at an instant (Unix milliseconds), in milliseconds; positive east of Greenwich. */
  offsetAt(instant: number): number;
}

// A name, not an offset such as +02:00, which has no changes of offset.
const NAME = /^[A-Za-z][A-Za-z0-9+_/-]{0,63}$/;
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;
// No zone is further from UTC, and no zone changes its offset twice within two days.
const LARGEST_OFFSET_MS = 86_400_000;

/** Opens a time zone by its name, in upper or lower case. Returns null if there is none. */
export function openTimeZone(name: string): TimeZone | null {
  const format = NAME.test(name) ? openFormat(name) : null;
  if (format === null) return null;
  return {
    name,
    offsetAt(instant) {
      const [, sign, hours = "0", minutes = "0", seconds = "0"] = OFFSET.exec(format.format(instant)) ?? [];
      const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
      return sign === "-" ? -ms : ms;
    },
  };
}

function openFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    // A RangeError is the only way in which the runtime reports an unknown name.
    return null;
  }
}

/** Returns the time that clocks of the zone show at an instant, as milliseconds from 1970-01-01T00:00 on these clocks. */
export function toLocal(zone: TimeZone, instant: number): number {
  return instant + zone.offsetAt(instant);
}

/**
 * Returns the instant at which clocks of the zone show a time. A time that they show twice is the first of the two. A
 * time that they skip is counted with the offset before the gap, so it is as much later as the clocks were put forward
 * (RFC 5545, section 3.3.5).
 */
export function toInstant(zone: TimeZone, local: number): number {
  const earlier = local - zone.offsetAt(local - LARGEST_OFFSET_MS);
  if (toLocal(zone, earlier) === local) return earlier;
  const later = local - zone.offsetAt(local + LARGEST_OFFSET_MS);
  return toLocal(zone, later) === local ? later : earlier;
}

/**
 * Returns the first instant in (from, to] at which the offset is another one than at `from`. There must be exactly one
 * change in between.
 */
export function changeOfOffset(zone: TimeZone, from: number, to: number): number {
  const offset = zone.offsetAt(from);
  let [before, after] = [from, to];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (zone.offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}
