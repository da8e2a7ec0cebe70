import { expect, it } from "vitest";
import { planAfter, planFrom } from "#control-plane/outages/maintenance/occurrences/plan.ts";
import { occurrencesBetween } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { scheduleAt } from "#test/control-plane/outages/maintenance/schedule/schedules.ts";

const DAY_MS = 86_400_000;

it("plans that follow each other have every occurrence once", () => {
  // In UTC and seen from the start, the planned time ends exactly with the start of a daily occurrence.
  for (const [rule, zone, sinceStart] of [
    "FREQ=DAILY",
    "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
    "FREQ=WEEKLY;BYDAY=SA,SU;COUNT=40",
    "FREQ=MONTHLY;BYDAY=-1SU",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    null,
  ].flatMap((one) => [[one, "UTC", 0] as const, [one, "Europe/Berlin", 3_600_000] as const])) {
    const schedule = { ...scheduleAt(zone, "2026-02-27T23:00", rule), durationMs: 26 * 3_600_000 };
    const now = schedule.startsAt + sinceStart;
    let plan = planFrom(schedule, now);
    const planned = [...plan.occurrences];
    for (let day = 1; day <= 800; day += 7) {
      const { until } = plan;
      plan = planAfter(schedule, until, now + day * DAY_MS);
      planned.push(...plan.occurrences);
      expect(plan.occurrences.every(({ from }) => from >= until && from < plan.until)).toBe(true);
    }
    expect([rule, planned]).toEqual([rule, occurrencesBetween(schedule, { from: now, to: plan.until })]);
  }
});

it("a plan names the first start that it leaves out", () => {
  const yearly = scheduleAt("UTC", "2026-01-01T00:00", "FREQ=YEARLY");
  expect(planFrom(yearly, yearly.startsAt).laterStart).toBe(Date.UTC(2027, 0, 1));
  const once = scheduleAt("UTC", "2026-06-01T00:00", null);
  expect(planFrom(once, once.startsAt - 61 * DAY_MS)).toMatchObject({ occurrences: [], laterStart: once.startsAt });
  expect(planFrom(once, once.startsAt - 59 * DAY_MS)).toMatchObject({ laterStart: null });
  const counted = scheduleAt("UTC", "2026-01-01T00:00", "FREQ=DAILY;COUNT=5");
  expect(planFrom(counted, counted.startsAt).laterStart).toBeNull();
});
