import type { CheckRow, Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";
import { answerFindings } from "#test/fleet/monitors/rules/answers.ts";
import { deliveryFindings } from "#test/fleet/monitors/rules/deliveries.ts";
import { deletionFindings } from "#test/fleet/monitors/rules/deletions.ts";
import { incidentFindings } from "#test/fleet/monitors/rules/incidents.ts";
import { eventFindings } from "#test/fleet/monitors/rules/events.ts";
import { entryFindings } from "#test/fleet/monitors/rules/schedule-entries.ts";
import { judgeMonitors } from "#test/fleet/monitors/rules/statuses.ts";

/** Result of checking a history. */
export interface MonitorVerdict {
  readonly monitors: number;
  readonly checks: number;
  /** Checks that began in the same millisecond as another check of their monitor. */
  readonly simultaneous: number;
  readonly transitions: number;
  readonly incidents: number;
  readonly events: number;
  readonly deliveries: number;
  readonly mails: number;
  /** Number of findings by rule. Empty: nothing is wrong. */
  readonly findings: Readonly<Record<string, number>>;
  /** The first findings, for people. */
  readonly examples: readonly string[];
}

const EXAMPLES_PER_RULE = 3;

/** Checks what a run left behind against the rules of watching (rules/*.ts). */
export function checkMonitors(history: MonitorHistory): MonitorVerdict {
  const { findings: statuses, notices } = judgeMonitors(history);
  const all: Finding[] = [
    ...entryFindings(history),
    ...answerFindings(history),
    ...statuses,
    ...incidentFindings(history, notices),
    ...eventFindings(history, notices),
    ...deliveryFindings(history),
    ...deletionFindings(history),
  ];
  for (const about of history.deadlocks) all.push({ rule: "deadlocks in the database", about });
  const findings: Record<string, number> = {};
  const examples: string[] = [];
  for (const { rule, about } of all) {
    const count = (findings[rule] ?? 0) + 1;
    findings[rule] = count;
    if (count <= EXAMPLES_PER_RULE) examples.push(`${rule}: ${JSON.stringify(about)}`);
  }
  return {
    monitors: history.monitors.length,
    checks: history.checks.length,
    simultaneous: countSimultaneous(history.checks),
    transitions: history.changes.length,
    incidents: history.incidents.length,
    events: history.events.length,
    deliveries: history.deliveries.length,
    mails: history.mails.length,
    findings,
    examples,
  };
}

function countSimultaneous(checks: readonly CheckRow[]): number {
  const together = Map.groupBy(checks, ({ monitorId, checkedAt }) => `${monitorId} ${Math.round(checkedAt)}`);
  return [...together.values()].filter(({ length }) => length > 1).reduce((sum, { length }) => sum + length, 0);
}
