import type { Answer, CheckRow, Finding, MonitorHistory } from "#test/fleet/monitors/records.ts";

/**
 * A recorded verdict is an agent's answer for this monitor, location and target, recorded as it was given and at most
 * once. Verdicts up and down never come without one.
 */
export function answerFindings({ monitors, checks, answers, actions }: MonitorHistory): Finding[] {
  const findings: Finding[] = [];
  const given = new Map(answers.map((answer) => [answer.sending, answer]));
  const numbers = new Map(monitors.map(({ id, number }) => [id, number]));
  const taken = new Map<number, CheckRow>();
  const targets = Map.groupBy(
    actions.filter(({ kind, answeredAt }) => kind === "retarget" && answeredAt !== null),
    ({ monitorId }) => monitorId,
  );
  for (const check of checks) {
    if (check.sending === null) {
      if (check.status !== "unknown") findings.push({ rule: "a verdict without an answer", about: check });
      continue;
    }
    const answer = given.get(check.sending);
    if (answer === undefined || !isFor(answer, check, numbers.get(check.monitorId))) {
      findings.push({ rule: "a verdict without an answer", about: { check, answer } });
      continue;
    }
    if (answer.verdict !== check.status) {
      findings.push({ rule: "a verdict is not as it was answered", about: { check, answer } });
    }
    const other = taken.get(check.sending);
    if (other !== undefined) findings.push({ rule: "an answer is recorded twice", about: { check, other } });
    taken.set(check.sending, check);
    const newest = (targets.get(check.monitorId) ?? []).findLast(
      ({ answeredAt }) => answeredAt !== null && answeredAt < check.committedAt,
    );
    if (newest !== undefined && answer.version < newest.version) {
      findings.push({ rule: "a verdict on an old target is recorded", about: { check, answer, newest } });
    }
  }
  return findings;
}

function isFor(answer: Answer, check: CheckRow, number: number | undefined): boolean {
  return answer.number === number && answer.location === check.location;
}
