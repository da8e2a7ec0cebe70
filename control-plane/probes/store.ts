import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";

/** The channel of changed enrolments: an agent's id, or `account:<id>` where an account was erased with its agents. */
export const PROBE_CHANNEL = "probes";

/** The authority as it is kept: DER, the key sealed. */
interface StoredAuthority {
  readonly certificate: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** The authority, or null before the first start. */
export async function findAuthority(sql: Queryable): Promise<StoredAuthority | null> {
  const [row] = await sql<StoredAuthority[]>`select certificate, private_key as "privateKey" from authority`;
  return row ?? null;
}

/** Keeps this authority unless one stands; the one that stands then. Replicas that start at once take turns. */
export async function insertAuthority(tx: Transaction, made: StoredAuthority, now: Date): Promise<StoredAuthority> {
  await tx`select pg_advisory_xact_lock(hashtext('vantage authority'))`;
  await tx`
    insert into authority (certificate, private_key, created_at) values (${made.certificate}, ${made.privateKey}, ${now})
    on conflict (id) do nothing`;
  const kept = await findAuthority(tx);
  if (kept === null) throw new Error("the authority is gone");
  return kept;
}

/** What a join token lets in. */
interface StoredToken {
  readonly digest: Uint8Array;
  readonly region: string;
  readonly accountId: number | null;
  readonly reusable: boolean;
  readonly expiresAt: Date;
}

/** Adds a token and drops those that ended a week ago; false where the account does not exist. */
export async function insertToken(sql: Queryable, token: StoredToken, now: Date): Promise<boolean> {
  const { digest, region, accountId, reusable, expiresAt } = token;
  const { count } = await sql`
    with old as (delete from join_tokens where expires_at < ${now}::timestamptz - interval '7 days')
    insert into join_tokens (digest, region, account_id, reusable, expires_at, created_at)
    select ${digest}::bytea, ${region}, ${accountId}::bigint, ${reusable ? 1 : 0}::int = 1, ${expiresAt}::timestamptz, ${now}::timestamptz
    where ${accountId}::bigint is null or exists (select 1 from accounts where id = ${accountId})`;
  return count > 0;
}

/** An agent about to be enrolled. */
interface NewProbe {
  /** Its id is the token's region, a hyphen and this. */
  readonly suffix: string;
  readonly serial: string;
  readonly notAfter: Date;
  /** SHA-256 over the token's digest and the agent's public key. */
  readonly enrolledBy: Uint8Array;
}

/** What became of a token: the agent it let in, or why it let nobody in. */
type Redeemed =
  | { readonly ok: true; readonly agentId: string; readonly region: string; readonly accountId: number | null }
  | { readonly ok: false; readonly reason: "unknown" | "used" | "expired" };

/**
 * Redeems a token and enrols the agent in one statement: of two that redeem a one-off token at once one gets it. The
 * agent that got it may ask again with the same key until it has attached: its answer may have got lost.
 */
export async function redeemToken(sql: Queryable, digest: Uint8Array, probe: NewProbe, now: Date): Promise<Redeemed> {
  const [row] = await sql<
    { agentId: string | null; region: string; accountId: number | null; expired: number; known: number }[]
  >`
    with again as (
      update probes set certificate_serial = ${probe.serial}, certificate_expires_at = ${probe.notAfter}
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
        (id, region, account_id, certificate_serial, certificate_expires_at, enrolled_at, enrolled_by)
      select region || '-' || ${probe.suffix}::text, region, account_id, ${probe.serial}, ${probe.notAfter}, ${now},
        ${probe.enrolledBy}
      from token
      returning id, region, account_id
    ), enrolled as (select * from again union all select * from probe)
    select enrolled.id as "agentId", enrolled.region, enrolled.account_id as "accountId",
      coalesce((before.expires_at <= ${now})::int, 0) as expired, (before.digest is not null)::int as known
    from (select 1) as one left join enrolled on true left join join_tokens as before on before.digest = ${digest}`;
  if (row === undefined) throw new Error("a select without from returned nothing");
  const { agentId, region, accountId } = row;
  if (agentId !== null) return { ok: true, agentId, region, accountId };
  return { ok: false, reason: row.known === 0 ? "unknown" : row.expired === 1 ? "expired" : "used" };
}

/** Whether a token is known and has not expired, used or not. */
export async function isTokenLive(sql: Queryable, digest: Uint8Array, now: Date): Promise<boolean> {
  const rows = await sql`select 1 from join_tokens where digest = ${digest} and expires_at > ${now}`;
  return rows.length > 0;
}

/** An enrolment. */
export interface StoredProbe {
  readonly id: string;
  readonly region: string;
  readonly accountId: number | null;
  readonly enabled: boolean;
  readonly revokedAt: Date | null;
  readonly serial: string;
  readonly previousSerial: string | null;
}

/** The enrolments with these ids, in no order; those nobody has are missing. */
export async function findProbes(sql: Sql, ids: readonly string[]): Promise<readonly StoredProbe[]> {
  return sql<StoredProbe[]>`
    select id, region, account_id as "accountId", enabled, revoked_at as "revokedAt",
      certificate_serial as serial, previous_serial as "previousSerial"
    from probes where id = any(${[...ids]}::text[])`;
}

/**
 * Notes an agent's next certificate, if the one it showed is its newest or the one before and it is not revoked. The one
 * it showed becomes the one before: what was issued in between never arrived.
 */
export async function renewProbe(
  sql: Queryable,
  shown: { readonly agentId: string; readonly serial: string },
  next: { readonly serial: string; readonly notAfter: Date },
): Promise<boolean> {
  const { count } = await sql`
    update probes
    set previous_serial = ${shown.serial}, certificate_serial = ${next.serial}, certificate_expires_at = ${next.notAfter}
    where id = ${shown.agentId} and revoked_at is null and ${shown.serial} in (certificate_serial, previous_serial)`;
  return count > 0;
}

/** Lets an agent work or not and tells every replica; null where there is none or it is revoked. */
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

/** Revokes an agent and tells every replica; a second time changes nothing. false: there is none. */
export async function revokeProbe(sql: Queryable, id: string, now: Date): Promise<boolean> {
  const rows = await sql`
    with changed as (
      update probes set revoked_at = coalesce(revoked_at, ${now}) where id = ${id} returning id
    )
    select pg_notify(${PROBE_CHANNEL}, id) from changed`;
  return rows.length > 0;
}

/** Tells every replica that an account is gone, and its agents with it. */
export async function notifyAccountErased(sql: Queryable, accountId: number): Promise<void> {
  await sql`select pg_notify(${PROBE_CHANNEL}, ${`account:${accountId}`})`;
}

/** An account's private agents, for its export. */
export async function exportProbes(sql: Queryable, accountId: number): Promise<unknown> {
  return sql`
    select id, region, enabled, revoked_at, enrolled_at, last_seen_at, certificate_expires_at
    from probes where account_id = ${accountId} order by enrolled_at, id`;
}
