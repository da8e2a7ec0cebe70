import type { ChangeRow, CheckRow, Finding, MonitorHistory, ScheduleEntryRow } from "#test/fleet/monitors/records.ts";

/** Time from the plan of a first check to the commit of the change that planned it, at most. */
const WRITE_MS = 60_000;
/** How much earlier than planned a check can begin, because the clock was corrected between two statements. */
const CLOCK_MS = 2_000;
/** Lateness beyond the interval that a check can have at the end of a run. */
const LATE_MS = 20_000;

/**
 * A planned time is recorded once: by a check, or in the `missed` of the check before it. The planned times of a
 * schedule entry follow each other at the interval, from the first one after a creation, resumption or new target.
 */
export function entryFindings(history: MonitorHistory): Finding[] {
  const findings: Finding[] = [];
  const checks = Map.groupBy(history.checks, entryOf);
  const changes = Map.groupBy(history.changes, ({ monitorId }) => monitorId);
  const recorded = new Set(history.checks.map(({ monitorId, tx }) => `${monitorId} ${tx}`));
  for (const entry of history.scheduleEntries) {
    const restarts = (changes.get(entry.monitorId) ?? []).filter(
      ({ monitorId, tx, status }) => status === "unknown" && !recorded.has(`${monitorId} ${tx}`),
    );
    findings.push(...findingsOf(entry, checks.get(entryOf(entry)) ?? [], restarts));
    if (entry.plannedAt < history.readAt - entry.intervalMs - LATE_MS) {
      findings.push({
        rule: "a schedule entry is overdue at the end",
        about: { entry, byMs: history.readAt - entry.plannedAt },
      });
    }
  }
  return findings;
}

function* findingsOf(
  entry: ScheduleEntryRow,
  checks: readonly CheckRow[],
  restarts: readonly ChangeRow[],
): Generator<Finding> {
  const ordered = checks.toSorted((one, other) => one.committedAt - other.committedAt);
  const lives = restarts.toSorted((one, other) => one.committedAt - other.committedAt);
  let expected: number | null = null;
  let isComplete = true;
  const seen = new Set<number>();
  for (const check of ordered) {
    const start = lives.findLast(({ committedAt }) => committedAt < check.committedAt);
    if (start !== undefined && check.checkedAt < start.at - WRITE_MS) {
      yield { rule: "a check from before a new start is recorded after it", about: { check, start } };
    }
    if (start !== undefined && lives.indexOf(start) >= 0) {
      lives.splice(0, lives.indexOf(start) + 1);
      expected = null;
    }
    if (check.isRecheck) continue;
    const planned = plannedTimeOf(check, expected);
    if (seen.has(planned)) {
      yield { rule: "a schedule entry is recorded twice", about: { check, planned } };
      continue;
    }
    seen.add(planned);
    if (expected !== null && planned > expected) {
      yield { rule: "a planned time is skipped without a record", about: { check, planned, expected } };
    } else if (expected !== null && planned < expected) {
      yield { rule: "a planned time is not on the schedule", about: { check, planned, expected } };
    }
    expected = nextOf(entry, planned) + check.missed * entry.intervalMs;
    isComplete = true;
  }
  // A restart after the last check plans a first check at any time.
  if (lives.length > 0) isComplete = false;
  if (expected !== null && isComplete && entry.plannedAt !== expected) {
    yield { rule: "the next planned time does not follow the last check", about: { entry, expected } };
  }
}

/** Returns the planned time of a check. A check that began before it has no lag, and takes the expected time. */
function plannedTimeOf({ checkedAt, lagMs }: CheckRow, expected: number | null): number {
  const planned = checkedAt - lagMs;
  const isEarly = lagMs === 0 && expected !== null && expected > planned && expected - planned < CLOCK_MS;
  return isEarly ? expected : planned;
}

/** Returns the first planned time after another. */
function nextOf({ intervalMs, phaseMs }: ScheduleEntryRow, after: number): number {
  let next = phaseMs + Math.ceil((after - phaseMs) / intervalMs) * intervalMs;
  if (next <= after) next += intervalMs;
  return next;
}

function entryOf({ monitorId, location }: { readonly monitorId: number; readonly location: string }): string {
  return `${monitorId} ${location}`;
}
