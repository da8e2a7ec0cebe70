import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { readTargets, type KnownTarget } from "#control-plane/watching/expiry/read/store.ts";
import type { CheckFault } from "#control-plane/outages/state/state.ts";

/** What a registry said about the domain of a monitor, as the verdict of a check. */
interface DomainVerdict {
  readonly verdict: "up" | "down" | "unknown";
  /** null: the domain works. */
  readonly fault: CheckFault | null;
}

/** An answer of a registry counts for this long, in milliseconds. */
const COUNTS_MS = 7 * 86_400_000;

/**
 * Judges a planned check of a domain monitor by the registry's last answer, which is at most a few days old: a check does
 * not ask the registry.
 */
export async function judgeDomain(sql: Queryable, monitorId: number, now: Date): Promise<DomainVerdict> {
  const row = (await readTargets(sql, [monitorId])).find(({ kind }) => kind === "domain");
  if (row === undefined || row.facts === null || row.lookedAt === null) {
    return unknown("no_registration_data", `the registry ${describeSilence(row, now)}`);
  }
  if (now.getTime() - row.lookedAt.getTime() > COUNTS_MS) {
    return unknown("registration_data_old", `the registry has not answered since ${row.lookedAt.toISOString()}`);
  }
  const fault = findRegistrationFault(JSON.parse(row.facts) as RegistrationFacts, now);
  if (fault === null) return { verdict: "up", fault: null };
  const { reason, message } = fault;
  return { verdict: "down", fault: { stage: "response", source: "target", reason, message } };
}

/** Says why a registry gave no answer yet. */
function describeSilence(row: KnownTarget | undefined, now: Date): string {
  if (row === undefined) return "has not answered yet";
  const { error, pausedUntil } = row;
  const silence = error === null ? "has not answered yet" : `does not answer (${error})`;
  if (pausedUntil === null || pausedUntil <= now) return silence;
  return `${silence}; it gets no question until ${pausedUntil.toISOString()}, because it refused the last one or did not answer it`;
}

function unknown(reason: string, message: string): DomainVerdict {
  return { verdict: "unknown", fault: { stage: "response", source: "service", reason, message } };
}
