import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";

/**
 * Notification channel of changed enrolments: an agent's id, or `account:<id>` if an account was erased with its
 * agents.
 */
export const PROBE_CHANNEL = "probes";

/** A stored join token. */
interface StoredToken {
  /** SHA-256 of its secret. */
  readonly digest: Uint8Array;
  readonly region: string;
  readonly accountId: number | null;
  readonly reusable: boolean;
  readonly expiresAt: Date;
}

/** Inserts a token and deletes those that expired a week ago. Returns false if the account does not exist. */
export async function insertToken(sql: Queryable, token: StoredToken, now: Date): Promise<boolean> {
  const { digest, region, accountId, reusable, expiresAt } = token;
  const { count } = await sql`
    with old as (delete from join_tokens where expires_at < ${now}::timestamptz - interval '7 days')
    insert into join_tokens (digest, region, account_id, reusable, expires_at, created_at)
    select ${digest}::bytea, ${region}, ${accountId}::bigint, ${reusable ? 1 : 0}::int = 1, ${expiresAt}::timestamptz, ${now}::timestamptz
    where ${accountId}::bigint is null or exists (select 1 from accounts where id = ${accountId})`;
  return count > 0;
}

/** An agent to enrol. */
interface NewProbe {
  /** Last part of its id, after the token's region and a hyphen. */
  readonly suffix: string;
  /** The authority that issues its certificate. */
  readonly authorityId: number;
  readonly serial: string;
  readonly notAfter: Date;
  /** SHA-256 over the token's digest and the agent's public key. */
  readonly enrolledBy: Uint8Array;
}

/** Result of redeeming a token: the enrolled agent, or the reason for the refusal. */
type Redeemed =
  | { readonly ok: true; readonly agentId: string; readonly region: string; readonly accountId: number | null }
  | { readonly ok: false; readonly reason: "unknown" | "used" | "expired" };

/**
 * Redeems a token and enrols the agent in one statement: of two agents that redeem a one-time token at the same time,
 * one succeeds. That agent can repeat the request with the same key until it has attached, because the answer can get
 * lost.
 */
export async function redeemToken(sql: Queryable, digest: Uint8Array, probe: NewProbe, now: Date): Promise<Redeemed> {
  const [row] = await sql<
    { agentId: string | null; region: string; accountId: number | null; expired: number; known: number }[]
  >`
    with again as (
      update probes set certificate_serial = ${probe.serial}, certificate_expires_at = ${probe.notAfter},
        authority_id = ${probe.authorityId}
      where enrolled_by = ${probe.enrolledBy} and revoked_at is null and last_seen_at is null
        and exists (select 1 from join_tokens where digest = ${digest} and expires_at > ${now})
      returning id, region, account_id
    ), token as (
      update join_tokens set used_at = ${now}
      where digest = ${digest} and expires_at > ${now} and (reusable or used_at is null)
        and not exists (select 1 from probes where enrolled_by = ${probe.enrolledBy})
      returning region, account_id
    ), probe as (
      insert into probes
        (id, region, account_id, certificate_serial, certificate_expires_at, authority_id, enrolled_at, enrolled_by)
      select region || '-' || ${probe.suffix}::text, region, account_id, ${probe.serial}, ${probe.notAfter},
        ${probe.authorityId}, ${now}, ${probe.enrolledBy}
      from token
      returning id, region, account_id
    ), enrolled as (select * from again union all select * from probe)
    select enrolled.id as "agentId", enrolled.region, enrolled.account_id as "accountId",
      coalesce((before.expires_at <= ${now})::int, 0) as expired, (before.digest is not null)::int as known
    from (select 1) as one left join enrolled on true left join join_tokens as before on before.digest = ${digest}`;
  if (row === undefined) throw new Error("the statement returned no row");
  const { agentId, region, accountId } = row;
  if (agentId !== null) return { ok: true, agentId, region, accountId };
  return { ok: false, reason: row.known === 0 ? "unknown" : row.expired === 1 ? "expired" : "used" };
}

/** Reports whether a token is known and has not expired, whether used or not. */
export async function isTokenLive(sql: Queryable, digest: Uint8Array, now: Date): Promise<boolean> {
  const rows = await sql`select 1 from join_tokens where digest = ${digest} and expires_at > ${now}`;
  return rows.length > 0;
}

/** A stored enrolment. */
export interface StoredProbe {
  readonly id: string;
  readonly region: string;
  readonly accountId: number | null;
  readonly enabled: boolean;
  readonly revokedAt: Date | null;
  readonly serial: string;
  readonly previousSerial: string | null;
}

/** Finds the enrolments with these ids, in any order. Unknown ids are missing. */
export async function findProbes(sql: Sql, ids: readonly string[]): Promise<readonly StoredProbe[]> {
  return sql<StoredProbe[]>`
    select id, region, account_id as "accountId", enabled, revoked_at as "revokedAt",
      certificate_serial as serial, previous_serial as "previousSerial"
    from probes where id = any(${[...ids]}::text[])`;
}

/**
 * Stores an agent's next certificate if it is not revoked and presented its newest or its previous certificate. The
 * presented one becomes the previous one: a certificate issued after it has never arrived. Returns false if refused.
 */
export async function renewProbe(
  sql: Queryable,
  shown: { readonly agentId: string; readonly serial: string },
  next: { readonly serial: string; readonly notAfter: Date; readonly authorityId: number },
): Promise<boolean> {
  const { count } = await sql`
    update probes
    set previous_serial = ${shown.serial}, certificate_serial = ${next.serial},
      certificate_expires_at = ${next.notAfter}, authority_id = ${next.authorityId}
    where id = ${shown.agentId} and revoked_at is null and ${shown.serial} in (certificate_serial, previous_serial)`;
  return count > 0;
}

/** Enables or disables an agent and notifies every replica. Returns null if there is none or it is revoked. */
export async function enableProbe(sql: Queryable, id: string, enabled: boolean): Promise<StoredProbe | null> {
  const [row] = await sql<StoredProbe[]>`
    with changed as (
      update probes set enabled = ${enabled ? 1 : 0}::int = 1 where id = ${id} and revoked_at is null returning *
    )
    select id, region, account_id as "accountId", enabled, revoked_at as "revokedAt", certificate_serial as serial,
      previous_serial as "previousSerial", pg_notify(${PROBE_CHANNEL}, id)
    from changed`;
  return row ?? null;
}

/** Revokes an agent and notifies every replica. A second call changes nothing. Returns false if there is none. */
export async function revokeProbe(sql: Queryable, id: string, now: Date): Promise<boolean> {
  const rows = await sql`
    with changed as (
      update probes set revoked_at = coalesce(revoked_at, ${now}) where id = ${id} returning id
    )
    select pg_notify(${PROBE_CHANNEL}, id) from changed`;
  return rows.length > 0;
}

/** Notifies every replica that an account was erased with its agents. */
export async function notifyAccountErased(sql: Queryable, accountId: number): Promise<void> {
  await sql`select pg_notify(${PROBE_CHANNEL}, ${`account:${accountId}`})`;
}

/** Returns the private agents of an account, for its data export. */
export async function exportProbes(sql: Queryable, accountId: number): Promise<unknown> {
  return sql`
    select id, region, enabled, revoked_at, enrolled_at, last_seen_at, certificate_expires_at
    from probes where account_id = ${accountId} order by enrolled_at, id`;
}
