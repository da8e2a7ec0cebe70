import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { NewEvent } from "#control-plane/events/event.ts";
import type { Events } from "#control-plane/events/events.ts";
import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import { decideCertificate } from "#control-plane/expiry/notices/decide-certificate.ts";
import { decideRegistration } from "#control-plane/expiry/notices/decide-registration.ts";
import { decodeMemory, type Memory } from "#control-plane/expiry/notices/memory.ts";
import { certificateEvent, registrationEvent } from "#control-plane/expiry/visits/describe.ts";
import { judgeLook, type TargetAfter, type TargetBefore } from "#control-plane/expiry/visits/judge.ts";
import type { Look } from "#control-plane/expiry/visits/look.ts";
import {
  lockMonitorsOf,
  lockTarget,
  writeMemories,
  writeTarget,
  type ClaimedTarget,
  type LinkedMonitor,
  type VisitedTarget,
} from "#control-plane/expiry/visits/store.ts";

/** What a visit has changed. */
interface Settled {
  /** Active monitors of the domain, whose checks are judged by what was found. */
  readonly domainMonitors: readonly number[];
  /** Types of the events that were published. */
  readonly events: readonly string[];
}

/** Dependencies of the settlement. */
interface SettleDeps {
  readonly sql: Sql;
  readonly events: Events;
  /** 0 to 1. */
  readonly luck: number;
  readonly now: Date;
}

/**
 * Commits a visit in one transaction: what was found, the events of every monitor of the target, their deliveries, and
 * what the monitors were informed of. `look` is null if none was due. Returns null if the claim was lost: then another
 * replica visits the target.
 */
export function settleVisit(deps: SettleDeps, claimed: ClaimedTarget, look: Look | null): Promise<Settled | null> {
  return transact(deps.sql, async (tx) => {
    const locked = await lockTarget(tx, claimed);
    if (locked === null) return null;
    const now = deps.now.getTime();
    const facts: unknown = locked.facts === null ? null : JSON.parse(locked.facts);
    const isCertificate = claimed.kind === "certificate";
    const before: TargetBefore = {
      kind: claimed.kind,
      target: claimed.target,
      lookAt: locked.lookAt.getTime(),
      failures: locked.failures,
      error: locked.error,
      lookedAt: locked.lookedAt?.getTime() ?? null,
      changedAt: locked.changedAt?.getTime() ?? null,
      certificate: isCertificate ? (facts as CertificateFacts | null) : null,
      registration: isCertificate ? null : (facts as RegistrationFacts | null),
    };
    const after = judgeLook(before, look, deps.luck, now);
    const monitors = await lockMonitorsOf(tx, claimed.id);
    const decided = monitors.map((monitor) => decide(monitor, before, after, now));
    await writeTarget(tx, claimed.id, toRow(after));
    await inform(tx, deps.events, claimed, decided);
    return {
      domainMonitors: isCertificate ? [] : monitors.filter(isDomainMonitor).map(({ id }) => id),
      events: decided.flatMap(({ events }) => events.map(({ type }) => type)),
    };
  });
}

/** What one monitor is informed of. */
interface Decided {
  readonly monitor: LinkedMonitor;
  readonly events: readonly NewEvent[];
  readonly memory: Memory | null;
}

function decide(monitor: LinkedMonitor, before: TargetBefore, after: TargetAfter, now: number): Decided {
  const memory = decodeMemory(monitor.memory);
  const { target } = before;
  if (after.certificate !== null) {
    const facts = after.certificate;
    const made = decideCertificate(facts, before.certificate, memory, now);
    const events = made.notices.map((notice) => certificateEvent(monitor, notice, { target, facts }, now));
    return { monitor, events, memory: made.memory };
  }
  if (after.registration !== null) {
    const facts = after.registration;
    const made = decideRegistration(facts, memory, now);
    const events = made.notices.map((notice) => registrationEvent(monitor, notice, { target, facts }, now));
    return { monitor, events, memory: made.memory };
  }
  return { monitor, events: [], memory: null };
}

async function inform(
  tx: Transaction,
  events: Events,
  { kind }: ClaimedTarget,
  decided: readonly Decided[],
): Promise<void> {
  const memories = decided.flatMap(({ monitor, memory }) => {
    return memory === null ? [] : { monitorId: monitor.id, memory: JSON.stringify(memory) };
  });
  if (memories.length > 0) await writeMemories(tx, kind, memories);
  await events.publish(
    tx,
    decided.flatMap((one) => one.events),
  );
}

function isDomainMonitor({ checkType }: LinkedMonitor): boolean {
  return checkType === "domain";
}

function toRow({ certificate, registration, ...after }: TargetAfter): VisitedTarget {
  const facts = certificate ?? registration;
  return {
    nextAt: new Date(after.nextAt),
    lookAt: new Date(after.lookAt),
    failures: after.failures,
    error: after.error,
    lookedAt: after.lookedAt === null ? null : new Date(after.lookedAt),
    changedAt: after.changedAt === null ? null : new Date(after.changedAt),
    facts: facts === null ? null : JSON.stringify(facts),
    fingerprint: certificate?.fingerprint ?? null,
  };
}
