import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import { DELIVERIES_CHANNEL } from "#control-plane/notify/deliveries/delivery.ts";
import type { Receiver } from "#control-plane/notify/events/event.ts";
import { addressKey, isSameAddress, spellMailAddress } from "#control-plane/core/mail-address.ts";
import { sweepLedger } from "#control-plane/notify/mail/ledger.ts";
import { hashToken } from "#control-plane/notify/mail/recipients/confirmations.ts";
import {
  confirmByToken,
  deleteConfirmations,
  findByToken,
  wantConfirmations,
  withdrawConfirmations,
} from "#control-plane/notify/mail/recipients/confirmations-store.ts";
import {
  deleteUnconfirmed,
  endLinks,
  findRecipient,
  listRecipients,
  readFailing,
  readRecipients,
  type FoundRecipient,
} from "#control-plane/notify/mail/recipients/store.ts";

/** Whether an address is confirmed, and whether its owner wants no alerts any more. */
interface RecipientStatus {
  readonly email: string;
  readonly confirmed: boolean;
  /** null if it has not unsubscribed. */
  readonly unsubscribedAt: Date | null;
}

/** What a confirmation link leads to. used: its address is confirmed. */
export type LinkState =
  | { readonly kind: "open" | "used"; readonly email: string }
  | { readonly kind: "unknown"; readonly email: null };

/** Addresses of an account; null: its own one. */
interface AddressList {
  readonly accountId: number;
  readonly emails: readonly string[] | null;
}

/** Returns accounts' own addresses by account; one without an address is missing. */
export type AccountEmails = (sql: Queryable, accountIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

/** The addresses to which accounts are mailed. `emails` null is the account's own address. */
export interface Recipients {
  /**
   * Makes sure that the addresses have been asked for their confirmation; one that has not answered is asked again after
   * a day. The mails follow the commit of the transaction. Without a mail server the addresses wait for one.
   */
  ensureRecipients(tx: Transaction, accountId: number, emails: readonly string[] | null): Promise<void>;
  /**
   * Takes back the confirmation mails to these addresses that were not sent yet, because nothing is mailed to them any
   * more. The account's own address stays: it gets other mail too.
   */
  withdrawRecipients(tx: Transaction, accountId: number, emails: readonly string[]): Promise<void>;
  /** Returns the addresses in the order given, each with whether it is confirmed and has unsubscribed. */
  statusOf(sql: Queryable, accountId: number, emails: readonly string[] | null): Promise<readonly RecipientStatus[]>;
  /**
   * Returns those of the addresses whose last delivery failed, and to which nothing has been delivered for a minute, in
   * their normal form.
   */
  failingOf(sql: Queryable, accountId: number, emails: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the confirmed ones of each list that have not unsubscribed, in the order of the lists, as receivers of events. */
  recipientsOf(tx: Transaction, lists: readonly AddressList[]): Promise<readonly (readonly Receiver[])[]>;
  /** Finds a recipient by its id; null if there is none. */
  find(id: number): Promise<FoundRecipient | null>;
  /** Ends the links of the mails to an address that were made until now. Those of later mails work. */
  endLinks(tx: Transaction, accountId: number, email: string): Promise<void>;
  /** Finds what a link leads to. */
  findLink(token: string): Promise<LinkState>;
  /** Confirms the address of a link. */
  confirm(token: string): Promise<LinkState>;
  /** Returns the account's recipients for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Deletes addresses that were never confirmed, and what no limit counts any more. Rejects while the database is away. */
  sweep(): Promise<void>;
}

/** Time in milliseconds after which an address that has not answered is asked again. */
const ASK_AGAIN_MS = 86_400_000;
/** Time in milliseconds after which an address that was never confirmed is forgotten. */
const FORGET_MS = 30 * 86_400_000;
/** Time in milliseconds for which the deliveries to an address must have failed before reads say so. */
const FAILING_MS = 60_000;
const DELETED_AT_ONCE = 1_000;
const TOKEN_FORM = /^[0-9A-Za-z]{32}$/;
const UNKNOWN_LINK: LinkState = { kind: "unknown", email: null };

/** Creates the recipients. */
export function createRecipients({
  sql,
  clock,
  accountEmails,
}: Pick<App, "sql" | "clock"> & { readonly accountEmails: AccountEmails }): Recipients {
  /** Returns the addresses as they were given, and as they are stored; null if it is no address. */
  async function resolve(on: Queryable, accountId: number, emails: readonly string[] | null) {
    const [resolved = []] = await resolveAll(on, [{ accountId, emails }]);
    return resolved;
  }

  async function resolveAll(on: Queryable, lists: readonly AddressList[]) {
    const owners = new Set(lists.flatMap(({ accountId, emails }) => (emails === null ? accountId : [])));
    const own = owners.size === 0 ? new Map<number, string>() : await accountEmails(on, [...owners]);
    return lists.map(({ accountId, emails }) => {
      const given = emails ?? [own.get(accountId) ?? null];
      return given.flatMap((text) => (text === null ? [] : { text, email: spellMailAddress(text) }));
    });
  }

  return {
    async ensureRecipients(tx, accountId, emails) {
      const resolved = await resolve(tx, accountId, emails);
      const distinct = new Map(
        resolved.flatMap(({ email }) => (email === null ? [] : [[addressKey(email), email] as const])),
      );
      if (distinct.size === 0) return;
      const now = clock.now();
      const since = new Date(now.getTime() - ASK_AGAIN_MS);
      await wantConfirmations(tx, accountId, [...distinct.values()], { now, since, channel: DELIVERIES_CHANNEL });
    },
    async withdrawRecipients(tx, accountId, emails) {
      const own = (await accountEmails(tx, [accountId])).get(accountId) ?? null;
      const others = emails.filter((email) => !isSameAddress(own, email));
      if (others.length > 0) await withdrawConfirmations(tx, accountId, others);
    },
    async statusOf(on, accountId, emails) {
      const resolved = await resolve(on, accountId, emails);
      const known = await readRecipients(
        on,
        resolved.flatMap(({ email }) => (email === null ? [] : { accountId, email })),
      );
      const byAddress = new Map(known.map((one) => [one.address, one]));
      return resolved.map(({ text, email }) => {
        const found = email === null ? undefined : byAddress.get(addressKey(email));
        return { email: text, confirmed: found?.isConfirmed ?? false, unsubscribedAt: found?.unsubscribedAt ?? null };
      });
    },
    async failingOf(on, accountId, emails) {
      const since = new Date(clock.now().getTime() - FAILING_MS);
      return new Set(await readFailing(on, accountId, emails, since));
    },
    async recipientsOf(tx, lists) {
      const resolved = await resolveAll(tx, lists);
      const addresses = lists.map(({ accountId }, index) =>
        (resolved[index] ?? []).flatMap(({ email }) => (email === null ? [] : { accountId, email })),
      );
      const known = await readRecipients(tx, addresses.flat());
      const byAddress = new Map(known.map((one) => [keyOf(one.accountId, one.address), one]));
      return addresses.map((list) => {
        const found = new Set(list.flatMap(({ accountId, email }) => byAddress.get(keyOf(accountId, email)) ?? []));
        return [...found]
          .filter(({ isConfirmed, unsubscribedAt }) => isConfirmed && unsubscribedAt === null)
          .toSorted((a, b) => a.id - b.id)
          .map(({ id, email }) => ({ receiverId: id, recipient: email }));
      });
    },
    find: (id) => findRecipient(sql, id),
    endLinks: (tx, accountId, email) => endLinks(tx, accountId, email, clock.now()),
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
      await sweepLedger(sql, new Date(now));
    },
  };
}

function keyOf(accountId: number, email: string): string {
  return `${accountId} ${addressKey(email)}`;
}
