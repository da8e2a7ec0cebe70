import type { Finding, WebhookHistory } from "#test/fleet/webhooks/records.ts";

/** Within this time of a kill the work of the killed process is taken over, milliseconds. */
const RESUMED_MS = 30_000;
/** Jitter of the schedule. */
const LONGEST = 1.2;

/**
 * Promise 5: an attempt that a killed process has begun is followed by another one within 30 s and its delay. Only sound
 * receivers count: at others it waits its turn. A fault of the database that follows suspends the promise.
 */
export function recoveryFindings({ faults, attempts, deliveries, subscriptions, schedule }: WebhookHistory): Finding[] {
  const sound = new Set(subscriptions.flatMap(({ id, isSound }) => (isSound ? id : [])));
  const deliveryOf = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  const findings: Finding[] = [];
  for (const lost of attempts.filter(({ errorCode }) => errorCode === "attempt_lost")) {
    const delivery = deliveryOf.get(lost.deliveryId);
    if (delivery === undefined || !sound.has(delivery.webhookId) || delivery.status !== "delivered") continue;
    const kill = faults.find(({ kind, from }) => kind === "process" && from >= lost.startedAt);
    const next = byDelivery.get(lost.deliveryId)?.find(({ attempt }) => attempt === lost.attempt + 1);
    if (kill === undefined || next === undefined) continue;
    const latest = kill.from + RESUMED_MS + (schedule[lost.attempt] ?? 0) * LONGEST;
    const isSuspended = faults.some(({ from, to }) => from > kill.from && from < latest && to > from);
    if (next.startedAt > latest && !isSuspended) {
      findings.push({ rule: "work resumes more than 30 s after a kill", about: { kill, lost, next } });
    }
  }
  return findings;
}
