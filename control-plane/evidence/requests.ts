import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import { hostOf, placeOf } from "#control-plane/evidence/cause-key.ts";
import { findEvidence, findLines, insertRows } from "#control-plane/evidence/store.ts";

/** A confirmed outage whose incident was opened in the same transaction. */
interface OpenedOutage {
  readonly incidentId: number;
  readonly causeCode: string;
  readonly confirmedAt: Date;
  readonly monitor: {
    readonly id: number;
    readonly accountId: number;
    readonly url: string;
    readonly checkType: string;
  };
}

/** Orders evidence for outages in the transaction that opens their incidents. One statement. */
export async function requestEvidence(tx: Transaction, outages: readonly OpenedOutage[]): Promise<void> {
  if (outages.length === 0) return;
  await insertRows(
    tx,
    outages.map(({ incidentId, causeCode, confirmedAt, monitor }) => ({
      incidentId,
      accountId: monitor.accountId,
      monitorId: monitor.id,
      host: hostOf(monitor),
      causeCode,
      place: placeOf(monitor),
      confirmedAt,
    })),
  );
}

/** Returns the evidence of an incident as the API shows it; null if there is none. */
export async function readEvidence(sql: Queryable, incidentId: number): Promise<unknown> {
  const found = await findEvidence(sql, incidentId);
  if (found === null) return null;
  const stored = JSON.parse(found.body) as Readonly<Record<string, unknown>>;
  const { gathered_at, ...rest } = stored;
  return { gathered_at, gathered_for_incident: found.gatheredFor, ...rest };
}

/** Returns what has changed and where it fails, one line each, for the mail about an incident; null if not gathered. */
export async function readMailLines(
  sql: Queryable,
  incidentId: number,
): Promise<{ readonly changed: string; readonly where: string } | null> {
  const lines = await findLines(sql, incidentId);
  if (lines === null) return null;
  const [, changed = "", where = ""] = JSON.parse(lines) as readonly string[];
  return { changed, where };
}
