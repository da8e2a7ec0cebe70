import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import { hostOf, placeOf } from "#control-plane/evidence/cause-key.ts";
import type { Evidence } from "#control-plane/evidence/evidence.ts";
import { adaptEvidence, adaptLines } from "#control-plane/evidence/shared.ts";
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
  const { own, gathered } = found;
  const { gathered_at, ...rest } = adaptEvidence(own, gathered, JSON.parse(found.body) as Evidence);
  return {
    gathered_at,
    gathered_for_incident: gathered.incidentId,
    gathered_for_host: gathered.host === "" ? null : gathered.host,
    ...rest,
  };
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
