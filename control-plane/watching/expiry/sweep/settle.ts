import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import type { CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { decideCertificate } from "#control-plane/watching/expiry/notices/decide-certificate.ts";
import { decideRegistration } from "#control-plane/watching/expiry/notices/decide-registration.ts";
import { decodeMemory, saysMore, type Memory } from "#control-plane/watching/expiry/notices/memory.ts";
import type { ClaimedTarget } from "#control-plane/watching/expiry/sweep/claims-store.ts";
import { certificateEvent, registrationEvent } from "#control-plane/watching/expiry/sweep/describe.ts";
import { judgeLook, type TargetAfter, type TargetBefore } from "#control-plane/watching/expiry/sweep/judge.ts";
import type { Look } from "#control-plane/watching/expiry/sweep/look.ts";
import {
  lockLinksOf,
  lockMonitorsOf,
  lockTarget,
  readInformed,
  writeMemories,
  writeTarget,
  type InformedMonitor,
  type LinkedMonitor,
  type SettledTarget,
} from "#control-plane/watching/expiry/sweep/store.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { areCovered } from "#control-plane/outages/maintenance/coverage/coverage.ts";

/** What a sweep has changed. */
interface Settled {
  /** Active monitors of the domain, whose checks are judged by what was found. */
  readonly domainMonitors: readonly number[];
  /** Types of the events that were published. */
  readonly events: readonly string[];
}

/** After this time a sweep decides again about notices that maintenance silenced, in milliseconds. */
const SILENCED_MS = 60_000;

/**
 * Commits a sweep in one transaction: what was found, the events of every monitor of the target, their deliveries, and
 * what the monitors were informed of. `look` is null if none was made. Returns null if the claim was lost: then another
 * replica sweeps the target.
 *
 * While a maintenance window covers a monitor, its notices are silenced: what was found is stored, but the monitor is
 * not informed and nothing is remembered of it. So the same is decided again until the window has ended, and what still
 * holds then is noticed once, as with outages. `luck` is 0 to 1.
 */
export function settleTarget(
  deps: Pick<App, "sql"> & { readonly events: Events; readonly luck: number; readonly now: Date },
  claimed: ClaimedTarget,
  look: Look | null,
): Promise<Settled | null> {
  return transact(deps.sql, async (tx) => {
    const lockedIds = new Set(await lockMonitorsOf(tx, claimed.id));
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
      errorMessage: locked.errorMessage,
      failedSince: locked.failedSince?.getTime() ?? null,
      doubtedAt: locked.doubtedAt?.getTime() ?? null,
      lookedAt: locked.lookedAt?.getTime() ?? null,
      changedAt: locked.changedAt?.getTime() ?? null,
      certificate: isCertificate ? (facts as CertificateFacts | null) : null,
      registration: isCertificate ? null : (facts as RegistrationFacts | null),
    };
    const after = judgeLook(before, look, deps.luck, now);
    const linked = await lockLinksOf(tx, claimed.id);
    // Those that were linked a moment ago are not locked: the next sweep, which is due now, decides about them.
    const monitors = linked.filter(({ id }) => lockedIds.has(id));
    const decided = monitors.flatMap((monitor) => decide(monitor, before, after, now) ?? []);
    const { events, silenced } = await describeEvents(tx, deps.now, decided);
    const noticeBy = monitors.length < linked.length ? now : silenced.size > 0 ? now + SILENCED_MS : null;
    await writeTarget(tx, claimed.id, toRow(after, noticeBy));
    const informed = decided.filter(({ id, isNews }) => isNews && !silenced.has(id));
    const memories = informed.map(({ id, memory }) => ({ monitorId: id, memory: JSON.stringify(memory) }));
    if (memories.length > 0) await writeMemories(tx, claimed.kind, memories);
    await deps.events.publish(tx, events);
    return {
      domainMonitors: isCertificate ? [] : monitors.filter(isDomainMonitor).map(({ id }) => id),
      events: events.map(({ type }) => type),
    };
  });
}

/** What one monitor is to be informed of. */
interface Decided {
  readonly id: number;
  readonly memory: Memory;
  /** Whether the memory says something else than the stored one. */
  readonly isNews: boolean;
  readonly describe: readonly ((monitor: InformedMonitor) => NewEvent)[];
}

/** Decides about one monitor; null if nothing is known about the target yet. */
function decide(
  { id, memory: text }: LinkedMonitor,
  { target, certificate: known }: TargetBefore,
  after: TargetAfter,
  now: number,
): Decided | null {
  const { certificate, registration } = after;
  const stored = decodeMemory(text);
  if (certificate !== null) {
    const { notices, memory } = decideCertificate(certificate, known, stored, now);
    const found = { target, facts: certificate };
    const describe = notices.map((notice) => (of: InformedMonitor) => certificateEvent(of, notice, found, now));
    return { id, memory, isNews: saysMore(memory, stored), describe };
  }
  if (registration !== null) {
    const { notices, memory } = decideRegistration(registration, stored, now);
    const found = { target, facts: registration };
    const describe = notices.map((notice) => (of: InformedMonitor) => registrationEvent(of, notice, found, now));
    return { id, memory, isNews: saysMore(memory, stored), describe };
  }
  return null;
}

/** Describes the events of monitors; those of the monitors that a maintenance window covers are silenced. */
async function describeEvents(
  tx: Transaction,
  at: Date,
  decided: readonly Decided[],
): Promise<{ readonly events: readonly NewEvent[]; readonly silenced: ReadonlySet<number> }> {
  const noticed = new Map(decided.filter(({ describe }) => describe.length > 0).map((one) => [one.id, one.describe]));
  if (noticed.size === 0) return { events: [], silenced: new Set() };
  const monitors = await readInformed(tx, [...noticed.keys()]);
  const covered = await areCovered(
    tx,
    monitors.map(({ id, accountId, tags }) => ({ accountId, monitorId: id, tags, at })),
  );
  const silenced = new Set(monitors.filter((_monitor, index) => covered[index] === true).map(({ id }) => id));
  const notified = monitors.filter(({ id }) => !silenced.has(id));
  return { events: notified.flatMap((one) => (noticed.get(one.id) ?? []).map((describe) => describe(one))), silenced };
}

function isDomainMonitor({ checkType }: LinkedMonitor): boolean {
  return kindOf(checkType).probe?.judgedBy === "registry";
}

/** `noticeBy`: when notices are decided at the latest; null: when one is due. */
function toRow({ certificate, registration, ...after }: TargetAfter, noticeBy: number | null): SettledTarget {
  const facts = certificate ?? registration;
  const noticeAt = Math.min(after.noticeAt ?? Infinity, noticeBy ?? Infinity);
  return {
    lookAt: new Date(after.lookAt),
    noticeAt: Number.isFinite(noticeAt) ? new Date(noticeAt) : null,
    failures: after.failures,
    error: after.error,
    errorMessage: after.errorMessage,
    failedSince: dateOf(after.failedSince),
    doubtedAt: dateOf(after.doubtedAt),
    lookedAt: dateOf(after.lookedAt),
    changedAt: dateOf(after.changedAt),
    facts: facts === null ? null : JSON.stringify(facts),
    fingerprint: certificate?.fingerprint ?? null,
  };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
