import type { Sql } from "#control-plane/database/connect.ts";

/** The channel on which a replica tells the others that its part of the picture has changed; the payload is its id. */
export const PRESENCE_CHANNEL = "presence";

/** What one replica tells the others in one statement. */
interface PresenceWord {
  readonly replicaId: string;
  /** What agents dial; empty: untold. */
  readonly address: string;
  readonly startedAt: Date;
  readonly now: Date;
  /** Replicas not seen since then are dead. */
  readonly horizon: Date;
  /** The replica is new to the others: they are told even without changes. */
  readonly announce: boolean;
  /** Agents whose attachment here has changed. */
  readonly changes: readonly AttachmentChange[];
  /** Agents that are attached here and were a moment ago: their last_seen_at is brought forward. */
  readonly stillHere: readonly string[];
}

/** An agent that is attached now (hello: its word on itself, JSON), or no longer (null). */
export interface AttachmentChange {
  readonly probeId: string;
  readonly draining: boolean;
  readonly hello: string | null;
}

/**
 * Writes a replica's sign of life and what has changed there, removes the replicas that died (their attachments go with
 * them), and tells the others, all in one statement. Rows of probes that several replicas write at once are locked in
 * one order. An agent that is not enrolled has an attachment and nothing else.
 */
export async function writePresence(sql: Sql, word: PresenceWord): Promise<void> {
  const { replicaId, address, startedAt, now, horizon, announce, changes, stillHere } = word;
  const touched = [...new Set([...changes.map((change) => change.probeId), ...stillHere])];
  await sql`
    with own as (
      insert into replicas (id, address, started_at, seen_at) values (${replicaId}, ${address}, ${startedAt}, ${now})
      on conflict (id) do update set address = excluded.address, seen_at = excluded.seen_at
    ), dead as (
      delete from replicas where id in (
        select id from replicas where seen_at < ${horizon} and id <> ${replicaId} for update skip locked
      ) returning id
    ), change as (
      select * from unnest(
        ${changes.map((change) => change.probeId)}::text[],
        ${changes.map((change) => (change.draining ? 1 : 0))}::int[],
        ${changes.map((change) => change.hello)}::text[]
      ) as change (probe_id, draining, hello)
    ), attached as (
      insert into attachments (probe_id, replica_id, draining, attached_at)
      select probe_id, ${replicaId}, draining = 1, ${now} from change where hello is not null
      on conflict (probe_id, replica_id) do update set draining = excluded.draining
    ), gone as (
      delete from attachments using change
      where attachments.probe_id = change.probe_id and replica_id = ${replicaId} and change.hello is null
    ), touched as (
      select id from probes where id = any(${touched}::text[]) order by id for no key update
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

/** Takes a replica and its attachments out, dates the leave of its agents, and tells the others. */
export async function removeReplica(
  sql: Sql,
  { replicaId, now, left }: { replicaId: string; now: Date; left: readonly string[] },
): Promise<void> {
  await sql`
    with own as (
      delete from replicas where id = ${replicaId}
    ), touched as (
      select id from probes where id = any(${[...left]}::text[]) order by id for no key update
    ), seen as (
      update probes set last_seen_at = greatest(last_seen_at, ${now}) from touched where probes.id = touched.id
    )
    select pg_notify(${PRESENCE_CHANNEL}, ${replicaId})`;
}

/** A probe that is enrolled and not revoked, and who sees it. */
export interface ProbeReading {
  readonly id: string;
  readonly region: string;
  readonly accountId: number | null;
  readonly enabled: boolean;
  /** JSON; null: it has never attached. */
  readonly hello: string | null;
  /** Right to half a minute while it is attached. */
  readonly seenAt: Date;
  /** Live replicas it is attached to, in order; the reader of a picture leaves itself out. */
  readonly replicas: readonly string[];
  /** Whether it drains on all of those. */
  readonly draining: boolean;
}

/** What the database says at one look. */
export interface PresenceReading {
  readonly replicas: readonly { readonly id: string; readonly address: string }[];
  readonly probes: readonly ProbeReading[];
  /** The attachments of the reader itself, as the others see them. */
  readonly own: readonly { readonly probeId: string; readonly draining: boolean }[];
}

/** Reads the picture: replicas seen since `horizon`, every probe, and the reader's own attachments. */
export async function readPresence(sql: Sql, replicaId: string, horizon: Date): Promise<PresenceReading> {
  const [replicas, probes, own] = await Promise.all([
    sql<{ id: string; address: string }[]>`
      select id, address from replicas where seen_at >= ${horizon} order by id`,
    sql<ProbeReading[]>`
      select id, region, account_id as "accountId", enabled, hello::text as hello,
        coalesce(last_seen_at, enrolled_at) as "seenAt",
        coalesce(held.replicas, '{}') as replicas, coalesce(held.draining, false) as draining
      from probes left join (${heldBy(sql, horizon, replicaId)}) as held on held.probe_id = probes.id
      where revoked_at is null`,
    sql<{ probeId: string; draining: boolean }[]>`
      select probe_id as "probeId", draining from attachments where replica_id = ${replicaId}`,
  ]);
  return { replicas, probes, own };
}

/** A probe as operators see it, revoked ones included. */
export interface ProbeRecord extends Omit<ProbeReading, "seenAt"> {
  readonly revokedAt: Date | null;
  readonly certificateExpiresAt: Date;
  readonly enrolledAt: Date;
  /** null: never attached. */
  readonly lastSeenAt: Date | null;
}

/** Every probe there is, by region and id, less what the asking replica holds of it; with `id` that one alone. */
export async function listProbes(
  sql: Sql,
  { replicaId, horizon, id }: { replicaId: string; horizon: Date; id: string | null },
): Promise<readonly ProbeRecord[]> {
  return sql<ProbeRecord[]>`
    select id, region, account_id as "accountId", enabled, hello::text as hello, revoked_at as "revokedAt",
      certificate_expires_at as "certificateExpiresAt", enrolled_at as "enrolledAt",
      greatest(last_seen_at, held.seen_at) as "lastSeenAt",
      coalesce(held.replicas, '{}') as replicas, coalesce(held.draining, false) as draining
    from probes left join (${heldBy(sql, horizon, replicaId)}) as held on held.probe_id = probes.id
    where ${id}::text is null or id = ${id}
    order by region collate "C", id collate "C"`;
}

/** Who holds a stream of which probe, among the live replicas but one; while they live the probe is seen. */
function heldBy(sql: Sql, horizon: Date, except: string) {
  return sql`
    select probe_id, array_agg(replica_id order by replica_id) as replicas, bool_and(draining) as draining,
      max(seen_at) as seen_at
    from attachments join replicas on replicas.id = replica_id and seen_at >= ${horizon}
    where replica_id <> ${except}
    group by probe_id`;
}
