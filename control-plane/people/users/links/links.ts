import type { App } from "#control-plane/core/app.ts";
import type { RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Devices } from "#control-plane/people/users/devices.ts";
import type { Failures } from "#control-plane/people/users/failures.ts";
import {
  findLink,
  insertLink,
  takeLink,
  type LinkPurpose,
  type OneTimeLink,
} from "#control-plane/people/users/links/store.ts";
import type { Passwords } from "#control-plane/people/users/passwords.ts";
import type { Sessions } from "#control-plane/people/users/sessions.ts";
import type { Unproven } from "#control-plane/people/users/sign-in.ts";
import { createToken, digestToken, isToken } from "#control-plane/people/users/token.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Life of links, milliseconds. */
const LIFE_MS: Readonly<Record<LinkPurpose, number>> = {
  start: 15 * MINUTE_MS,
  reset: HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
};

/** A new link, in plain text for the only time. */
export interface CreatedLink {
  readonly id: number;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Result of the use of a link. expired: it is unknown, used or over. foreign: the address belongs to a user who has other
 * accounts, and a password that the link must not set. Others: the password of a known user was not accepted.
 */
export type UsedLink =
  | { readonly kind: "ok"; readonly token: string; readonly userId: number; readonly accountId: number }
  | { readonly kind: "expired" }
  | { readonly kind: "foreign" }
  | Unproven;

/** Dependencies of links. */
export interface LinksDeps extends Pick<App, "sql" | "clock" | "random"> {
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly failures: Failures;
  /** Logs changes. */
  readonly record: RecordChanges;
}

/** Email address and password that somebody chooses or has, as read. */
export interface Chosen {
  readonly email: string;
  readonly password: string;
}

/** Result of the use of an invite. orphaned: it has ended, because its maker is no owner (any more), or is not known. */
export type UsedInvite = UsedLink | { readonly kind: "orphaned"; readonly maker: "lowered" | "unknown" };

type Target = Partial<Pick<OneTimeLink, "accountId" | "userId" | "email" | "role" | "madeBy" | "byOperator">>;

/** Creates a link. `ttlMs`: its life in milliseconds; default: that of its purpose. */
export async function createLink(
  { clock, random }: Pick<App, "clock" | "random">,
  sql: Queryable,
  purpose: LinkPurpose,
  { accountId = null, userId = null, email = null, role = null, madeBy = null, byOperator = false }: Target,
  ttlMs: number = LIFE_MS[purpose],
): Promise<CreatedLink> {
  const token = createToken(random);
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + ttlMs);
  const link = { purpose, accountId, userId, email, role, madeBy, byOperator, createdAt, expiresAt };
  return { id: await insertLink(sql, digestToken(token), link), token, expiresAt };
}

/** Finds a link that can still be used, without using it; null if there is none. */
export async function peekLink(
  { sql, clock }: Pick<App, "sql" | "clock">,
  purpose: LinkPurpose,
  token: string,
): Promise<OneTimeLink | null> {
  return isToken(token) ? findLink(sql, digestToken(token), purpose, clock.now()) : null;
}

/** The result of a link that is unknown, used or over. */
export const EXPIRED = { kind: "expired" } as const;

/** Ends the transaction of a link that is not used after all: it is rolled back, and the link still works. */
class NotUsed extends Error {}

const USED_UP: ReadonlySet<string> = new Set(["ok", "none", "orphaned"]);

/**
 * Uses a link up and does what it is for, in one transaction. Results other than ok, none, and orphaned, which is an invite
 * that has ended, leave it as it was.
 */
export async function useLink<Result extends { readonly kind: string }>(
  { sql, clock }: Pick<App, "sql" | "clock">,
  purpose: LinkPurpose,
  token: string,
  work: (tx: Transaction, link: OneTimeLink) => Promise<Result>,
): Promise<Result | typeof EXPIRED> {
  const refused: { result?: Result | typeof EXPIRED } = {};
  try {
    return await transact(sql, async (tx) => {
      const link = await takeLink(tx, digestToken(token), purpose, clock.now());
      const result = link === null ? EXPIRED : await work(tx, link);
      if (USED_UP.has(result.kind)) return result;
      refused.result = result;
      throw new NotUsed("the link is not used");
    });
  } catch (error) {
    if (error instanceof NotUsed && refused.result !== undefined) return refused.result;
    throw error;
  }
}
