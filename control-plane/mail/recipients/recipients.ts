import type { Clock } from "#shared/clock.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import { DELIVERIES_CHANNEL } from "#control-plane/deliveries/delivery.ts";
import type { Receiver } from "#control-plane/events/event.ts";
import { toMailAddress } from "#control-plane/mail-address.ts";
import { hashToken } from "#control-plane/mail/recipients/confirmations.ts";
import {
  confirmByToken,
  deleteConfirmations,
  deleteUnconfirmed,
  findByToken,
  listRecipients,
  readRecipients,
  wantConfirmations,
} from "#control-plane/mail/recipients/store.ts";

/** Whether an address is confirmed. */
interface RecipientStatus {
  readonly email: string;
  readonly confirmed: boolean;
}

/** What a confirmation link leads to. used: its address is confirmed. */
export type LinkState =
  | { readonly kind: "open" | "used"; readonly email: string }
  | { readonly kind: "unknown"; readonly email: null };

/** The addresses to which accounts are mailed. `emails` null is the account's own address. */
export interface Recipients {
  /**
   * Makes sure that the addresses have been asked for their confirmation; one that has not answered is asked again after
   * a day. The mails follow the commit of the transaction. Without a mail server the addresses wait for one.
   */
  ensureRecipients(tx: Transaction, accountId: number, emails: readonly string[] | null): Promise<void>;
  /** Returns the addresses in the order given, each with whether it is confirmed. */
  statusOf(sql: Queryable, accountId: number, emails: readonly string[] | null): Promise<readonly RecipientStatus[]>;
  /** Returns the confirmed ones, as receivers of events. */
  recipientsOf(tx: Transaction, accountId: number, emails: readonly string[] | null): Promise<readonly Receiver[]>;
  /** Finds what a link leads to. */
  findLink(token: string): Promise<LinkState>;
  /** Confirms the address of a link. */
  confirm(token: string): Promise<LinkState>;
  /** Returns the account's recipients for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Deletes addresses that were never confirmed. Rejects while the database is away. */
  sweep(): Promise<void>;
}

/** Dependencies of the recipients. */
interface RecipientsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Returns the account's own address; null if it has none. */
  readonly accountEmail: (sql: Queryable, accountId: number) => Promise<string | null>;
}

/** Time in milliseconds after which an address that has not answered is asked again. */
const ASK_AGAIN_MS = 86_400_000;
/** Time in milliseconds after which an address that was never confirmed is forgotten. */
const FORGET_MS = 30 * 86_400_000;
const DELETED_AT_ONCE = 1_000;
const TOKEN_FORM = /^[0-9A-Za-z]{32}$/;
const UNKNOWN_LINK: LinkState = { kind: "unknown", email: null };

/** Creates the recipients. */
export function createRecipients({ sql, clock, accountEmail }: RecipientsDeps): Recipients {
  /** Returns the addresses as they are stored; what is no address is left out. */
  async function resolve(on: Queryable, accountId: number, emails: readonly string[] | null) {
    const given = emails ?? [await accountEmail(on, accountId)];
    return given.flatMap((text) => (text === null ? [] : { text, email: toMailAddress(text) }));
  }

  return {
    async ensureRecipients(tx, accountId, emails) {
      const resolved = await resolve(tx, accountId, emails);
      const distinct = new Map(
        resolved.flatMap(({ email }) => (email === null ? [] : [[email.toLowerCase(), email] as const])),
      );
      if (distinct.size === 0) return;
      const now = clock.now();
      const since = new Date(now.getTime() - ASK_AGAIN_MS);
      await wantConfirmations(tx, accountId, [...distinct.values()], { now, since, channel: DELIVERIES_CHANNEL });
    },
    async statusOf(on, accountId, emails) {
      const resolved = await resolve(on, accountId, emails);
      const known = await readRecipients(
        on,
        accountId,
        resolved.flatMap(({ email }) => email ?? []),
      );
      const confirmed = new Set(known.flatMap((one) => (one.isConfirmed ? one.email.toLowerCase() : [])));
      return resolved.map(({ text, email }) => {
        return { email: text, confirmed: email !== null && confirmed.has(email.toLowerCase()) };
      });
    },
    async recipientsOf(tx, accountId, emails) {
      const resolved = await resolve(tx, accountId, emails);
      const addresses = resolved.flatMap(({ email }) => email ?? []);
      if (addresses.length === 0) return [];
      const known = await readRecipients(tx, accountId, addresses);
      return known.flatMap((one) => (one.isConfirmed ? { receiverId: one.id, recipient: one.email } : []));
    },
    async findLink(token) {
      if (!TOKEN_FORM.test(token)) return UNKNOWN_LINK;
      const found = await findByToken(sql, hashToken(token), clock.now());
      return found === null ? UNKNOWN_LINK : { kind: found.isConfirmed ? "used" : "open", email: found.email };
    },
    async confirm(token) {
      if (!TOKEN_FORM.test(token)) return UNKNOWN_LINK;
      const tokenHash = hashToken(token);
      const email = await confirmByToken(sql, tokenHash, clock.now());
      if (email !== null) return { kind: "used", email };
      const found = await findByToken(sql, tokenHash, clock.now());
      return found === null ? UNKNOWN_LINK : { kind: "used", email: found.email };
    },
    export: listRecipients,
    async sweep() {
      const now = clock.now().getTime();
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteUnconfirmed(sql, new Date(now - FORGET_MS), limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteConfirmations(sql, new Date(now - ASK_AGAIN_MS), limit));
    },
  };
}
