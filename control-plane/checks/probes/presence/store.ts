import type { Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** Notification channel on which a replica's id is sent when its rows have changed. */
export const PRESENCE_CHANNEL = "presence";

/** Sign of life and changes that a replica writes in one statement. */
interface PresenceUpdate {
  readonly replicaId: string;
  /** host:port at which agents reach it; empty if not advertised. */
  readonly address: string;
  readonly startedAt: Date;
  readonly now: Date;
  /** Replicas last seen before this time are dead. */
  readonly horizon: Date;
  /** Whether to notify the others even without changes, because the replica is new. */
  readonly announce: boolean;
  /** Agents whose attachment here has changed. */
  readonly changes: readonly AttachmentChange[];
  /** Agents that are still attached here: their last_seen_at is updated if no replica has done so since `seenSince`. */
  readonly stillHere: readonly string[];
  readonly seenSince: Date;
}

/** An agent that is attached now, or no longer. */
export interface AttachmentChange {
  readonly probeId: string;
  readonly draining: boolean;
  /** The agent's hello as JSON; null if it is no longer attached. */
  readonly hello: string | null;
}

/**
 * Writes a replica's sign of life and its changes, deletes dead replicas with their attachments, and notifies the
 * others, all in one statement. Several replicas can do so at the same time, and one that was held up writes its row
 * while another deletes it: rows of replicas are locked before those of probes, and these in one order. An agent that is
 * not enrolled only has an attachment.
 */
export async function writePresence(sql: Sql, update: PresenceUpdate): Promise<void> {
  const { replicaId, address, startedAt, now, horizon, announce, changes, stillHere, seenSince } = update;
  await sql`
    with change as (
      select * from ${given(sql, changes, { probeId: "text", draining: "boolean", hello: "text" }, { as: "change" })}
    ), own as (
      insert into replicas (id, address, started_at, seen_at) values (${replicaId}, ${address}, ${startedAt}, ${now})
      on conflict (id) do update set address = excluded.address, seen_at = excluded.seen_at,
        changes = replicas.changes + (select count(*) from change)
      returning id
    ), dead as (
      delete from replicas where id in (
        select id from replicas where seen_at < ${horizon} and id <> ${replicaId} for update skip locked
      ) returning id
    ), attached as (
      insert into attachments (probe_id, replica_id, draining, attached_at)
      select probe_id, ${replicaId}, draining, ${now} from change where hello is not null
      on conflict (probe_id, replica_id) do update set draining = excluded.draining
    ), gone as (
      delete from attachments using change
      where attachments.probe_id = change.probe_id and replica_id = ${replicaId} and change.hello is null
    ), touched as (
      select id from probes
      where (select count(*) from own) = 1 and (select count(*) from dead) >= 0 and (
        id = any(${changes.map((change) => change.probeId)}::text[])
        or id = any(${[...stillHere]}::text[]) and (last_seen_at is null or last_seen_at < ${seenSince}))
      order by id for no key update
    ), seen as (
      update probes set
        last_seen_at = greatest(last_seen_at, ${now}),
        hello = coalesce(
          (select change.hello::jsonb from change where change.probe_id = probes.id), probes.hello)
      from touched where probes.id = touched.id
    )
    select pg_notify(${PRESENCE_CHANNEL}, ${replicaId})
    where ${announce} or exists (select from change) or exists (select from dead)`;
}

/** Deletes a replica with its attachments, updates last_seen_at of its agents, and notifies the others. Locks as above. */
export async function removeReplica(
  sql: Sql,
  { replicaId, now, left }: { replicaId: string; now: Date; left: readonly string[] },
): Promise<void> {
  await sql`
    with own as (
      delete from replicas where id = ${replicaId} returning id
    ), touched as (
      select id from probes where (select count(*) from own) >= 0 and id = any(${[...left]}::text[])
      order by id for no key update
    ), seen as (
      update probes set last_seen_at = greatest(last_seen_at, ${now}) from touched where probes.id = touched.id
    )
    select pg_notify(${PRESENCE_CHANNEL}, ${replicaId})`;
}

/** A probe that is enrolled and not revoked, with its attachments. */
export interface ProbeReading {
  readonly id: string;
  readonly region: string;
  readonly accountId: number | null;
  readonly enabled: boolean;
  /** The agent's last hello as JSON; null if it has never attached. */
  readonly hello: string | null;
  /** Ids of the live replicas to which it is attached, sorted, without the replica that reads. */
  readonly replicas: readonly string[];
  /** Whether it drains on all of them. */
  readonly draining: boolean;
}

/** The live replicas, and a text that differs whenever a reading of presence would. */
interface PresenceState {
  readonly replicas: PresenceReading["replicas"];
  readonly revision: string;
}

/**
 * Reads the replicas seen since `horizon`, and the state of presence. It costs the same for ten agents as for a
 * thousand, nearly: of each enrolment only a hash is read, inside the database.
 */
export async function readPresenceState(sql: Sql, horizon: Date): Promise<PresenceState> {
  const rows = await sql<{ id: string; address: string; changes: number; enrolments: string }[]>`
    select id, address, changes, enrolments from replicas, (
      select coalesce(bit_xor(hashtextextended(concat_ws(' ', id, region, account_id, enabled), 0)), 0)::text as enrolments
      from probes where revoked_at is null
    ) as hashed
    where seen_at >= ${horizon} order by id`;
  return { replicas: rows.map(({ id, address }) => ({ id, address })), revision: JSON.stringify(rows) };
}

/** Result of one read of presence. */
export interface PresenceReading {
  readonly replicas: readonly { readonly id: string; readonly address: string }[];
  readonly probes: readonly ProbeReading[];
  /** The reading replica's own attachments, as the others see them. */
  readonly own: readonly { readonly probeId: string; readonly draining: boolean }[];
}

/** Reads every probe that is not revoked, and the reader's own attachments. */
export async function readPresence(
  sql: Sql,
  replicaId: string,
  horizon: Date,
): Promise<Pick<PresenceReading, "probes" | "own">> {
  const [probes, own] = await Promise.all([
    sql<ProbeReading[]>`
      select id, region, account_id as "accountId", enabled, hello::text as hello,
        coalesce(held.replicas, '{}') as replicas, coalesce(held.draining, false) as draining
      from probes left join (${attachmentsByProbe(sql, horizon, replicaId)}) as held on held.probe_id = probes.id
      where revoked_at is null`,
    sql<{ probeId: string; draining: boolean }[]>`
      select probe_id as "probeId", draining from attachments where replica_id = ${replicaId}`,
  ]);
  return { probes, own };
}

/** A probe as operators see it; it can be revoked. */
export interface ProbeRecord extends ProbeReading {
  readonly revokedAt: Date | null;
  readonly certificateExpiresAt: Date;
  readonly enrolledAt: Date;
  /** null if it was never attached. */
  readonly lastSeenAt: Date | null;
}

/** Lists all probes, or the one with `id`, by region and id. Leaves out their attachments to the asking replica. */
export async function listProbes(
  sql: Sql,
  { replicaId, horizon, id }: { replicaId: string; horizon: Date; id: string | null },
): Promise<readonly ProbeRecord[]> {
  return sql<ProbeRecord[]>`
    select id, region, account_id as "accountId", enabled, hello::text as hello, revoked_at as "revokedAt",
      certificate_expires_at as "certificateExpiresAt", enrolled_at as "enrolledAt",
      greatest(last_seen_at, held.seen_at) as "lastSeenAt",
      coalesce(held.replicas, '{}') as replicas, coalesce(held.draining, false) as draining
    from probes left join (${attachmentsByProbe(sql, horizon, replicaId)}) as held on held.probe_id = probes.id
    where ${id}::text is null or id = ${id}
    order by region collate "C", id collate "C"`;
}

/** Selects the attachments of each probe to live replicas except one. The probe counts as seen while these live. */
function attachmentsByProbe(sql: Sql, horizon: Date, except: string) {
  return sql`
    select probe_id, array_agg(replica_id order by replica_id) as replicas, bool_and(draining) as draining,
      max(seen_at) as seen_at
    from attachments join replicas on replicas.id = replica_id and seen_at >= ${horizon}
    where replica_id <> ${except}
    group by probe_id`;
}
