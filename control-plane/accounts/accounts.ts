import { hasErrorCode } from "#shared/contracts/error-code.ts";
import type { Clock } from "#shared/time/clock.ts";
import { UNIQUE_VIOLATION } from "#control-plane/core/database/codes.ts";
import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import {
  countAccounts,
  deleteAccount,
  findAccount,
  findForChange,
  insertAccount,
  listAccounts,
  lockAccount,
  readEmails,
  replaceAddress,
  updateAccount,
  type Account,
  type AccountChange,
} from "#control-plane/accounts/store.ts";
import type { PlanName } from "#control-plane/core/plans.ts";

/** Returns all data of one kind about an account, as JSON without secrets. Called inside the erasing transaction. */
type Exporter = (sql: Queryable, accountId: number) => Promise<unknown>;

/** Called inside the transaction that changes or erases an account. */
type ChangeListener = (sql: Queryable, accountId: number) => Promise<void>;

/**
 * Result of an erasure; null if there is no such account. `exported` holds the export by kind, or null if not
 * requested.
 */
type Erased = { readonly exported: Readonly<Record<string, unknown>> | null } | null;

/** Accounts: creates, reads, changes and erases them. */
export interface Accounts {
  /** Creates an account. Returns null if the email address is in use. Works in any transaction. */
  create(sql: Queryable, account: { readonly email: string | null; readonly plan: PlanName }): Promise<Account | null>;
  /** Finds an account; null if there is none with this id. */
  find(sql: Queryable, id: number): Promise<Account | null>;
  /** Returns the email addresses of accounts by id; an account without one is missing. */
  emails(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Lists a page of accounts, newest first, and the total number. */
  list(limit: number, offset: number): Promise<{ accounts: readonly Account[]; total: number }>;
  /**
   * Changes an account. Returns null if there is none, "taken" if the email address is in use. `within` is called in the
   * transaction of the change, with the account as it was and as it is now.
   */
  update(
    id: number,
    change: AccountChange,
    within?: (tx: Queryable, accounts: { readonly before: Account; readonly after: Account }) => Promise<void>,
  ): Promise<Account | "taken" | null>;
  /** Finds an account and keeps other changes of it out until the transaction ends; null if there is none with this id. */
  lock(tx: Queryable, id: number): Promise<Account | null>;
  /**
   * Gives a locked account the email address of another of its owners, null if none has one; none if another account has
   * that one. Returns the address that it has then.
   */
  passAddress(tx: Queryable, id: number, email: string | null): Promise<string | null>;
  /** Erases an account and everything that belongs to it. `withExport` reads the data of all exporters first. */
  erase(id: number, withExport: boolean): Promise<Erased>;
  /** Adds a part of the export under the name `kind`. */
  addExporter(kind: string, exporter: Exporter): void;
  /** Adds a listener that is called inside the transaction of every change and erasure. */
  onChange(listener: ChangeListener): void;
  /** Adds a listener that is called inside the transaction that sets the email address of an account. */
  onAddress(listener: ChangeListener): void;
  /** Adds a listener that is called after the commit of every change and erasure. */
  afterChange(listener: (accountId: number) => void): void;
  /**
   * Adds a listener that is called inside the transaction of an erasure, once the account is locked and before it is
   * deleted: to delete rows that no foreign key deletes, and to lock others in the order in which their writers do.
   */
  onErase(listener: ChangeListener): void;
}

/** Creates the accounts of one replica. */
export function createAccounts(sql: Sql, clock: Clock): Accounts {
  const exporters = new Map<string, Exporter>();
  const changeListeners: ChangeListener[] = [];
  const addressListeners: ChangeListener[] = [];
  const eraseListeners: ChangeListener[] = [];
  const afterListeners: ((accountId: number) => void)[] = [];

  async function notifyListeners(listeners: readonly ChangeListener[], tx: Queryable, id: number): Promise<void> {
    for (const listener of listeners) await listener(tx, id);
  }

  return {
    create: (queryable, account) => insertAccount(queryable, account, clock.now()),
    find: findAccount,
    emails: readEmails,
    async list(limit, offset) {
      const [accounts, total] = await Promise.all([listAccounts(sql, limit, offset), countAccounts(sql)]);
      return { accounts, total };
    },
    async update(id, change, within = () => Promise.resolve()) {
      try {
        const changed = await transact(sql, async (tx) => {
          const before = await findForChange(tx, id);
          const after = before === null ? null : await updateAccount(tx, id, change, clock.now());
          if (before === null || after === null) return null;
          await notifyListeners(changeListeners, tx, id);
          if (change.email !== undefined) await notifyListeners(addressListeners, tx, id);
          await within(tx, { before, after });
          return after;
        });
        for (const listener of afterListeners) listener(id);
        return changed;
      } catch (error) {
        if (hasErrorCode(error, UNIQUE_VIOLATION)) return "taken";
        throw error;
      }
    },
    lock: findForChange,
    async passAddress(tx, id, email) {
      const address = await replaceAddress(tx, id, email, clock.now());
      await notifyListeners(addressListeners, tx, id);
      return address;
    },
    async erase(id, withExport) {
      const erased = await transact(sql, async (tx) => {
        const account = await findAccount(tx, id);
        if (account === null) return null;
        let exported: Record<string, unknown> | null = null;
        if (withExport) {
          exported = { account: { id, email: account.email, plan: account.plan, created_at: account.createdAt } };
          for (const [kind, exporter] of exporters) exported[kind] = await exporter(tx, id);
        }
        if (!(await lockAccount(tx, id))) return null;
        await notifyListeners(eraseListeners, tx, id);
        await deleteAccount(tx, id);
        await notifyListeners(changeListeners, tx, id);
        return { exported };
      });
      for (const listener of afterListeners) listener(id);
      return erased;
    },
    afterChange: (listener) => void afterListeners.push(listener),
    addExporter: (kind, exporter) => void exporters.set(kind, exporter),
    onChange: (listener) => void changeListeners.push(listener),
    onAddress: (listener) => void addressListeners.push(listener),
    onErase: (listener) => void eraseListeners.push(listener),
  };
}
