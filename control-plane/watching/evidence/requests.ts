import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { causeKeyOf, hostOf } from "#control-plane/watching/evidence/cause-key.ts";
import type { Evidence } from "#control-plane/watching/evidence/evidence.ts";
import { adaptEvidence, adaptLines } from "#control-plane/watching/evidence/shared.ts";
import { findEvidence, findLines, findReason, insertRows } from "#control-plane/watching/evidence/store.ts";

/** A confirmed outage whose incident was opened in the same transaction. */
interface OpenedOutage {
  readonly incidentId: number;
  readonly cause: { readonly code: string; readonly message: string };
  readonly confirmedAt: Date;
  readonly monitor: {
    readonly id: number;
    readonly accountId: number;
    readonly url: string;
    readonly checkType: string;
    readonly settings: { readonly port: number | null };
  };
}

/** Orders evidence for outages in the transaction that opens their incidents. One statement. */
export async function requestEvidence(tx: Transaction, outages: readonly OpenedOutage[]): Promise<void> {
  if (outages.length === 0) return;
  await insertRows(
    tx,
    outages.map(({ incidentId, cause, confirmedAt, monitor }) => ({
      incidentId,
      accountId: monitor.accountId,
      monitorId: monitor.id,
      host: hostOf(monitor),
      causeCode: cause.code,
      causeKey: causeKeyOf(monitor, cause),
      confirmedAt,
    })),
  );
}

/** Returns the evidence of an incident as the API shows it; null if there is none. */
export async function readEvidence(sql: Queryable, incidentId: number): Promise<unknown> {
  const found = await findEvidence(sql, incidentId);
  if (found === null) return null;
  const { own, gathered } = found;
  const { gathered_at, ...rest } = adaptEvidence(own, gathered, JSON.parse(found.body) as Evidence);
  return {
    gathered_at,
    gathered_for_incident: gathered.incidentId,
    gathered_for_host: gathered.host === "" ? null : gathered.host,
    ...rest,
  };
}

/** Reasons that the API shows, because they say that the limits of gathering were reached. */
const SHOWN_REASONS: ReadonlySet<string> = new Set(["too_many", "target_busy"]);

/** Returns the evidence of an incident as the API shows it, and why there is none, if that is a limit. */
export async function readIncidentEvidence(
  sql: Queryable,
  incidentId: number,
): Promise<{ readonly evidence: unknown; readonly reason: string | null }> {
  const evidence = await readEvidence(sql, incidentId);
  const reason = evidence === null ? await findReason(sql, incidentId) : null;
  return { evidence, reason: reason !== null && SHOWN_REASONS.has(reason) ? reason : null };
}

/** Returns what has changed and where it fails, one line each, for the mail about an incident; null if not gathered. */
export async function readMailLines(
  sql: Queryable,
  incidentId: number,
): Promise<{ readonly changed: string; readonly where: string } | null> {
  const found = await findLines(sql, incidentId);
  if (found === null) return null;
  const { own, gathered, lines } = found;
  const [, changed = "", where = ""] = adaptLines(own, gathered, JSON.parse(lines) as readonly string[]);
  return { changed, where };
}
