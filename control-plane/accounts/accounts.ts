import { hasErrorCode } from "#shared/error-code.ts";
import type { Clock } from "#shared/clock.ts";
import { UNIQUE_VIOLATION } from "#control-plane/database/codes.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import {
  countAccounts,
  deleteAccount,
  findAccount,
  insertAccount,
  listAccounts,
  updateAccount,
  type Account,
  type AccountChange,
} from "#control-plane/accounts/store.ts";
import type { PlanName } from "#control-plane/plans/plans.ts";

/** All that a noun keeps about an account, as JSON, without secrets; read inside the erasing transaction. */
type Exporter = (sql: Queryable, accountId: number) => Promise<unknown>;

/** Told inside the transaction that changes or erases an account. */
type ChangeListener = (sql: Queryable, accountId: number) => Promise<void>;

/** What erasing an account left: null without the account; `exported` by noun where it was asked for. */
type Erased = { readonly exported: Readonly<Record<string, unknown>> | null } | null;

/** Accounts: making, reading, changing, erasing. */
export interface Accounts {
  /** Makes an account; null where the address is in use. Works in any transaction. */
  create(sql: Queryable, account: { readonly email: string | null; readonly plan: PlanName }): Promise<Account | null>;
  find(sql: Queryable, id: number): Promise<Account | null>;
  /** A page of accounts, newest first, and how many there are in all. */
  list(limit: number, offset: number): Promise<{ accounts: readonly Account[]; total: number }>;
  /** Changes an account; null where there is none, "taken" where the address is in use. */
  update(id: number, change: AccountChange): Promise<Account | "taken" | null>;
  /** Erases an account with all that belongs to it; with `withExport` what every noun kept is read first. */
  erase(id: number, withExport: boolean): Promise<Erased>;
  /** A noun's part of the export, under its name. */
  addExporter(noun: string, exporter: Exporter): void;
  /** Called inside the transaction of every change and erasure. */
  onChange(listener: ChangeListener): void;
  /** Called after the commit of every change and erasure. */
  afterChange(listener: (accountId: number) => void): void;
  /** Called inside the transaction of an erasure, for what no foreign key takes along. */
  onErase(listener: ChangeListener): void;
}

/** Builds the accounts of one replica. */
export function createAccounts(sql: Sql, clock: Clock): Accounts {
  const exporters = new Map<string, Exporter>();
  const changeListeners: ChangeListener[] = [];
  const eraseListeners: ChangeListener[] = [];
  const afterListeners: ((accountId: number) => void)[] = [];

  async function announce(listeners: readonly ChangeListener[], tx: Queryable, id: number): Promise<void> {
    for (const listener of listeners) await listener(tx, id);
  }

  return {
    create: (queryable, account) => insertAccount(queryable, account, clock.now()),
    find: findAccount,
    async list(limit, offset) {
      const [accounts, total] = await Promise.all([listAccounts(sql, limit, offset), countAccounts(sql)]);
      return { accounts, total };
    },
    async update(id, change) {
      try {
        const changed = await transact(sql, async (tx) => {
          const updated = await updateAccount(tx, id, change, clock.now());
          if (updated !== null) await announce(changeListeners, tx, id);
          return updated;
        });
        for (const listener of afterListeners) listener(id);
        return changed;
      } catch (error) {
        if (hasErrorCode(error, UNIQUE_VIOLATION)) return "taken";
        throw error;
      }
    },
    async erase(id, withExport) {
      const erased = await transact(sql, async (tx) => {
        const account = await findAccount(tx, id);
        if (account === null) return null;
        let exported: Record<string, unknown> | null = null;
        if (withExport) {
          exported = { account: { id, email: account.email, plan: account.plan, created_at: account.createdAt } };
          for (const [noun, exporter] of exporters) exported[noun] = await exporter(tx, id);
        }
        if (!(await deleteAccount(tx, id))) return null;
        await announce([...eraseListeners, ...changeListeners], tx, id);
        return { exported };
      });
      for (const listener of afterListeners) listener(id);
      return erased;
    },
    afterChange: (listener) => void afterListeners.push(listener),
    addExporter: (noun, exporter) => void exporters.set(noun, exporter),
    onChange: (listener) => void changeListeners.push(listener),
    onErase: (listener) => void eraseListeners.push(listener),
  };
}
