import { openTimeZone } from "#control-plane/core/time-zone.ts";

const MINUTE = 60_000;
const DAY = 1_440;
const QUARTER = 15 * MINUTE;
/** Larger changes of the clock are corrections of it; those up to this are the two of a year. */
const LARGEST_CHANGE = 180;

const WORDS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const NAMES = ["jan feb mar apr may jun jul aug sep oct nov dec", "sun mon tue wed thu fri sat"];

/**
 * Returns the first runs of a crontab line after an instant, found by trying every minute as the daemon of Debian does
 * (its main loop). It follows the clock forward, runs at once what a skipped time holds, and waits while clocks repeat
 * one; only lines whose minutes or hours begin with an asterisk go on then, and have nothing at
 * once. Times are ISO 8601.
 */
export function triedRuns(line: string, zoneName: string, after: string, count: number): readonly string[] {
  const localMinute = openLocalMinutes(zoneName);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = (WORDS[line] ?? line).trim().split(/\s+/);
  const isStarred = day.startsWith("*") || weekday.startsWith("*");
  const isWild = minute.startsWith("*") || hour.startsWith("*");
  const matchesDay = remember((number: number) => {
    const date = new Date(number * DAY * MINUTE);
    const isDay = has(day, date.getUTCDate(), 1, 31);
    const isWeekday =
      has(weekday, date.getUTCDay(), 0, 7, NAMES[1]) || has(weekday, date.getUTCDay() || 7, 0, 7, NAMES[1]);
    return has(month, date.getUTCMonth() + 1, 1, 12, NAMES[0]) && (isStarred ? isDay && isWeekday : isDay || isWeekday);
  });
  const matchesTime = remember(
    (time: number) => has(hour, Math.floor(time / 60), 0, 23) && has(minute, time % 60, 0, 59),
  );
  const matches = (at: number): boolean => matchesTime(at % DAY) && matchesDay(Math.floor(at / DAY));

  const since = Date.parse(after);
  const first = Math.floor(since / MINUTE) - DAY;
  let virtual = localMinute(first * MINUTE);
  const found: string[] = [];
  for (let at = first + 1; found.length < count; at += 1) {
    const local = localMinute(at * MINUTE);
    let runs = false;
    if (local - virtual > 1 && local - virtual <= LARGEST_CHANGE && !isWild) {
      for (let missed = virtual + 1; missed <= local; missed += 1) runs ||= matches(missed);
    } else if (isWild || local > virtual || virtual - local > LARGEST_CHANGE) runs = matches(local);
    if (local > virtual || virtual - local > LARGEST_CHANGE) virtual = local;
    if (runs && at * MINUTE > since) found.push(new Date(at * MINUTE).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

function has(field: string, value: number, low: number, high: number, names = ""): boolean {
  return field.split(",").some((item) => {
    const [range = "", step = "1"] = item.split("/");
    const [from = "", to = from] = range === "*" ? [String(low), String(high)] : range.split("-");
    const numberOf = (text: string): number => {
      const name = names.split(" ").indexOf(text.toLowerCase());
      return name < 0 ? Number(text) : name + low;
    };
    return value >= numberOf(from) && value <= numberOf(to) && (value - numberOf(from)) % Number(step) === 0;
  });
}

/** Returns the function from an instant to the minutes that the clocks of a zone have counted. */
function openLocalMinutes(zoneName: string): (instant: number) => number {
  const zone = openTimeZone(zoneName);
  if (zone === null) throw new Error(`no time zone: ${zoneName}`);
  const offsetOf = remember((quarter: number) => zone.offsetAt(quarter * QUARTER));
  return (instant) => Math.floor((instant + offsetOf(Math.floor(instant / QUARTER))) / MINUTE);
}

function remember<T>(find: (key: number) => T): (key: number) => T {
  const known = new Map<number, T>();
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const found = find(key);
    known.set(key, found);
    return found;
  };
}
