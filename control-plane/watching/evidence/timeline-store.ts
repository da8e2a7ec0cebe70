import type { Transaction } from "#control-plane/core/database/connect.ts";

/**
 * Locks the account of an incident against its erasure, and then the incident; waits for both. Returns false if the
 * incident does not exist.
 */
export async function lockIncident(tx: Transaction, incidentId: number): Promise<boolean> {
  await tx`
    select from accounts where id = (select account_id from incident_evidence where incident_id = ${incidentId})
    for key share`;
  const { count } = await tx`select from incidents where id = ${incidentId} for no key update`;
  return count > 0;
}

/**
 * Locks incidents of locked accounts. Those that another transaction has locked are left out, because that one can wait
 * for others of them.
 */
export async function lockIncidents(tx: Transaction, incidentIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await tx<{ id: number }[]>`
    select id from incidents where id = any(${[...incidentIds]}::bigint[]) order by id for no key update skip locked`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the incidents among these whose monitor exists, and keeps it until the transaction ends. The lock conflicts
 * with nothing but a deletion, so that a monitor whose row is locked counts as deleted. Lock the incidents first: a
 * deletion ends the monitor's open incident before it removes the monitor, and in another order each could wait for the
 * other.
 */
export async function keepMonitors(tx: Transaction, incidentIds: Iterable<number>): Promise<ReadonlySet<number>> {
  const rows = await tx<{ id: number }[]>`
    select e.incident_id as id from incident_evidence as e join monitors as m on m.id = e.monitor_id
    where e.incident_id = any(${[...incidentIds]}::bigint[])
    order by m.id for key share of m skip locked`;
  return new Set(rows.map(({ id }) => id));
}
