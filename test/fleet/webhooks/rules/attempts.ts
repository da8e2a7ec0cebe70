import type { AttemptRow, Finding, WebhookHistory } from "#test/fleet/webhooks/records.ts";

/** Clocks of the replicas follow that of the database by less than this. */
const CLOCK_MS = 150;

/** Promise 7: never more attempts than the schedule has, each once, and none earlier than the schedule allows. */
export function attemptFindings({ deliveries, attempts, arrivals, schedule }: WebhookHistory): Finding[] {
  const findings: Finding[] = [];
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  const askedToWait = new Map(
    arrivals.flatMap(({ deliveryId, attempt, retryAfter }) =>
      retryAfter === null ? [] : [[`${deliveryId} ${attempt}`, retryAfter * 1_000] as const],
    ),
  );
  const arrivedAt = new Map(arrivals.map((one) => [`${one.deliveryId} ${one.attempt}`, one.arrivedAt]));
  for (const delivery of deliveries) {
    const own = (byDelivery.get(delivery.id) ?? []).toSorted((a, b) => a.attempt - b.attempt);
    if (own.length > schedule.length) findings.push({ rule: "a delivery has too many attempts", about: delivery });
    const isCounted = own.length === delivery.attempts && own.every(({ attempt }, index) => attempt === index + 1);
    if (!isCounted) findings.push({ rule: "attempts are not counted from 1 without gaps", about: { delivery, own } });
    for (const [index, next] of own.entries()) {
      const last = own[index - 1];
      if (last === undefined) continue;
      const earliest = earliestAfter(last, schedule, askedToWait);
      // An attempt is claimed with the time at which the claim was sent. What counts is the request, if there was one.
      const begun = arrivedAt.get(`${delivery.id} ${next.attempt}`) ?? Infinity;
      if (begun < earliest - CLOCK_MS) {
        findings.push({ rule: "an attempt is earlier than the schedule allows", about: { delivery, last, next } });
      }
    }
    const late = own.filter(({ startedAt }) => startedAt > (delivery.deliveredAt ?? Infinity) + CLOCK_MS);
    if (late.length > 0) findings.push({ rule: "an attempt begins after the delivery", about: { delivery, late } });
  }
  return findings;
}

function earliestAfter(
  { deliveryId, attempt, endedAt, code }: AttemptRow,
  schedule: readonly number[],
  askedToWait: ReadonlyMap<string, number>,
): number {
  // The receiver's wish counts only if its answer arrived.
  const wish = code === 429 ? (askedToWait.get(`${deliveryId} ${attempt}`) ?? 0) : 0;
  return (endedAt ?? Infinity) + Math.max(schedule[attempt] ?? 0, wish);
}
