import { expect, it } from "vitest";
import { occurrencesBetween } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { firstStarts, scheduleAt } from "#test/control-plane/outages/maintenance/schedule/schedules.ts";
import { seeded } from "#test/support/seeded.ts";

const DAY_MS = 86_400_000;
const DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"];
const formats = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }),
  ]),
);

/** What clocks of the zone show, by another format of the runtime than the product uses. */
const clockAt = (zone: string, instant: number) => (formats.get(zone)?.format(instant) ?? "").replace(" ", "T");

/** The first instant at which clocks show a time; in a gap, the time goes on from before it. Found by trying. */
function instantOf(zone: string, clock: string): number {
  const naive = Date.parse(`${clock}Z`);
  for (let offset = 14 * 60; offset >= -12 * 60; offset -= 15) {
    const instant = naive - offset * 60_000;
    if (clockAt(zone, instant) === clock) return instant;
  }
  let before = naive - DAY_MS;
  while (clockAt(zone, before + 60_000) < clock) before += 60_000;
  return before + naive - Date.parse(`${clockAt(zone, before)}Z`);
}

interface WeeklyRule {
  readonly zone: string;
  readonly start: string;
  readonly interval: number;
  readonly days: readonly string[];
  readonly weekStart: string;
  readonly count: number | null;
}

/** Goes through the days one by one and counts the weeks at each first day of a week. */
function enumerate({ zone, start, interval, days, weekStart, count }: WeeklyRule, until: number): readonly number[] {
  const found: number[] = [];
  const first = Date.parse(`${start.slice(0, 10)}T00:00:00Z`);
  let week = 0;
  for (let day = first; day < until + DAY_MS; day += DAY_MS) {
    const name = DAYS[(new Date(day).getUTCDay() + 6) % 7] ?? "";
    if (day > first && name === weekStart) week += 1;
    if (week % interval !== 0 || !days.includes(name)) continue;
    if (count !== null && found.length >= count) break;
    found.push(instantOf(zone, `${new Date(day).toISOString().slice(0, 10)}T${start.slice(11)}`));
  }
  return found.filter((at) => at < until);
}

function randomRule(next: () => number): WeeklyRule {
  const below = (most: number) => Math.floor(((next() * 256 + next()) / 65_536) * most);
  const two = (value: number) => String(value).padStart(2, "0");
  const days = DAYS.filter(() => below(3) === 0);
  const start = new Date(Date.UTC(2026, below(12), 1 + below(28)));
  // Most changes of the clocks happen between 1:00 and 4:00.
  const time = `${two(below(5))}:${two(below(4) * 15)}:00`;
  return {
    zone: ZONES[below(ZONES.length)] ?? "UTC",
    start: `${start.toISOString().slice(0, 10)}T${time}`,
    interval: 1 + below(4),
    days: days.length > 0 ? days : [DAYS[below(7)] ?? "MO"],
    weekStart: DAYS[below(7)] ?? "MO",
    count: below(3) === 0 ? 1 + below(40) : null,
  };
}

it("a weekly rule is open on the days that one finds by going through them one by one", () => {
  const next = seeded(20_260);
  for (let round = 0; round < 200; round += 1) {
    const rule = randomRule(next);
    const { zone, start, interval, days, weekStart, count } = rule;
    const text = `FREQ=WEEKLY;INTERVAL=${interval};BYDAY=${days.join(",")};WKST=${weekStart}${count === null ? "" : `;COUNT=${count}`}`;
    const schedule = scheduleAt(zone, start, text);
    const expected = enumerate(rule, schedule.startsAt + 420 * DAY_MS).filter((at) => at >= schedule.startsAt);
    expect([zone, start, text, firstStarts(schedule, 1_000, 420)]).toEqual([zone, start, text, expected]);
  }
});

it("a part of the time has the occurrences that the whole has in it", () => {
  const next = seeded(7);
  const rules = [
    "FREQ=DAILY;INTERVAL=3;BYHOUR=1,2,3;BYMINUTE=30",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,WE",
    "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1SU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1;COUNT=30",
    "FREQ=YEARLY;BYWEEKNO=1,53;BYDAY=MO,SU",
    "FREQ=YEARLY;INTERVAL=2;BYYEARDAY=1,-1,88",
  ];
  for (const rule of rules) {
    for (const zone of ZONES) {
      const schedule = scheduleAt(zone, "2026-01-01T02:30", rule);
      const whole = occurrencesBetween(schedule, { from: schedule.startsAt, to: schedule.startsAt + 4_000 * DAY_MS });
      for (let round = 0; round < 10; round += 1) {
        const from = schedule.startsAt + (next() * 256 + next()) * 5_000_000;
        const to = from + (next() + 1) * 10_000_000;
        const part = whole.filter(
          (one) => one.to > from && one.from < Math.min(to, schedule.startsAt + 4_000 * DAY_MS),
        );
        expect([rule, zone, occurrencesBetween(schedule, { from, to })]).toEqual([rule, zone, part]);
      }
    }
  }
});
