import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { PROBE_CHANNEL } from "#control-plane/checks/probes/store.ts";

/** Notification channel of changed authorities, without a payload. */
export const AUTHORITY_CHANNEL = "authorities";

/** An authority to store: DER, with the key encrypted. */
interface NewAuthority {
  readonly certificate: Uint8Array;
  readonly privateKey: Uint8Array;
}

/** A stored authority. */
export interface StoredAuthority extends NewAuthority {
  readonly id: number;
  readonly createdAt: Date;
}

/** Reads the authorities: none before the first start, and a second one while it takes the place of the first. */
export function readAuthorities(sql: Queryable): Promise<readonly StoredAuthority[]> {
  return sql<StoredAuthority[]>`
    select id, certificate, private_key as "privateKey", created_at as "createdAt" from authority order by id`;
}

/** Reads the authorities. Others that change them take turns until the transaction ends. */
export async function lockAuthorities(tx: Transaction): Promise<readonly StoredAuthority[]> {
  await tx`select pg_advisory_xact_lock(hashtext('vantage authority'))`;
  return readAuthorities(tx);
}

/** Inserts an authority, and notifies every replica. */
export async function insertAuthority(tx: Transaction, id: number, made: NewAuthority, now: Date): Promise<void> {
  await tx`
    insert into authority (id, certificate, private_key, created_at)
    values (${id}, ${made.certificate}, ${made.privateKey}, ${now})`;
  await tx`select pg_notify(${AUTHORITY_CHANNEL}, '')`;
}

/** Deletes an authority, and notifies every replica. */
export async function deleteAuthority(tx: Transaction, id: number): Promise<void> {
  await tx`delete from authority where id = ${id}`;
  await tx`select pg_notify(${AUTHORITY_CHANNEL}, '')`;
}

/** An agent with a certificate of an authority, which has neither ended nor was revoked. */
export interface AuthorityHolder {
  readonly id: string;
  readonly lastSeenAt: Date | null;
  readonly certificateExpiresAt: Date;
}

/** Lists the agents with a certificate of an authority, those seen last first. */
export function listHolders(sql: Queryable, authorityId: number, now: Date): Promise<readonly AuthorityHolder[]> {
  return sql<AuthorityHolder[]>`
    select id, last_seen_at as "lastSeenAt", certificate_expires_at as "certificateExpiresAt" from probes
    where authority_id = ${authorityId} and revoked_at is null and certificate_expires_at > ${now}
    order by last_seen_at desc nulls last, id`;
}

/** Revokes the agents with a certificate of an authority, and notifies every replica. */
export async function revokeHolders(tx: Transaction, authorityId: number, now: Date): Promise<void> {
  await tx`
    with changed as (
      update probes set revoked_at = ${now}
      where authority_id = ${authorityId} and revoked_at is null and certificate_expires_at > ${now} returning id
    )
    select pg_notify(${PROBE_CHANNEL}, id) from changed`;
}
