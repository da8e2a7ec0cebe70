import type { Finding, WebhookHistory } from "#test/fleet/webhooks/records.ts";
import { attemptFindings } from "#test/fleet/webhooks/rules/attempts.ts";
import { deliveryFindings } from "#test/fleet/webhooks/rules/deliveries.ts";
import { recoveryFindings } from "#test/fleet/webhooks/rules/recovery.ts";
import { requestFindings } from "#test/fleet/webhooks/rules/requests.ts";
import { writeFindings } from "#test/fleet/webhooks/rules/writes.ts";

/** Result of checking a history. */
export interface WebhookVerdict {
  readonly events: number;
  readonly deliveries: number;
  readonly requests: number;
  /** Attempts whose process stopped before it stored the result. */
  readonly lost: number;
  /** Requests beyond the first of a delivery that a receiver had taken. */
  readonly repeated: number;
  /** Number of deliveries by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Number of faults by name. */
  readonly faults: Readonly<Record<string, number>>;
  /** Number of findings by rule. Empty: nothing is wrong. */
  readonly findings: Readonly<Record<string, number>>;
  /** The first findings, for people. */
  readonly examples: readonly string[];
}

const EXAMPLES_PER_RULE = 3;

/** Checks what a run left behind against the promises of the delivery (rules/*.ts). */
export function checkWebhooks(history: WebhookHistory): WebhookVerdict {
  const all: Finding[] = [
    ...deliveryFindings(history),
    ...attemptFindings(history),
    ...requestFindings(history),
    ...recoveryFindings(history),
    ...writeFindings(history),
  ];
  const findings = Map.groupBy(all, ({ rule }) => rule);
  const taken = history.arrivals.filter(({ status, answeredAt }) => answeredAt !== null && (status ?? 500) < 300);
  return {
    events: history.events.length,
    deliveries: history.deliveries.length,
    requests: history.arrivals.length,
    lost: history.attempts.filter(({ errorCode }) => errorCode === "attempt_lost").length,
    repeated: taken.length - new Set(taken.map(({ deliveryId }) => deliveryId)).size,
    statuses: count(history.deliveries.map(({ status }) => status)),
    faults: count(history.faults.map(({ name }) => name)),
    findings: Object.fromEntries(Array.from(findings, ([rule, own]) => [rule, own.length])),
    examples: Array.from(findings.values()).flatMap((own) =>
      own.slice(0, EXAMPLES_PER_RULE).map(({ rule, about }) => `${rule}: ${JSON.stringify(about)}`),
    ),
  };
}

function count(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Array.from(
      Map.groupBy(words, (word) => word),
      ([word, own]) => [word, own.length],
    ),
  );
}
