import type { KeyScope } from "#shared/tools/define.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createKey, digestKey, isWellFormedKey, keyPrefix } from "#control-plane/accounts/keys/format.ts";
import { createKeyLookup, type KeyLookup } from "#control-plane/accounts/keys/lookup.ts";
import { effectiveScopes, type Principal } from "#control-plane/http/access/principal.ts";
import {
  countKeys,
  deleteKey,
  deleteKeys,
  findKeys,
  insertKey,
  KEY_CHANNEL,
  listKeys,
  noteUse,
  notifyAccountChanged,
  type KeyFilter,
  type ListedKey,
} from "#control-plane/accounts/keys/store.ts";
import type { PlanName, Plans } from "#control-plane/core/plans.ts";

/** Properties of a new key. */
interface KeyRequest {
  readonly account: { readonly id: number; readonly plan: PlanName };
  readonly name: string | null;
  /** null for the scopes of the account's plan, also after a change of plan. */
  readonly scopes: readonly KeyScope[] | null;
  /** The user who makes it; absent: the operator. */
  readonly madeBy?: number | undefined;
}

/** A new key, in plain text for the only time. */
export interface CreatedKey {
  readonly id: number;
  readonly key: string;
  /** Its first characters, which name it if it has no name. */
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
}

/** A key that was revoked. */
interface RevokedKey {
  readonly accountId: number;
  readonly name: string;
}

/** API keys: creates, lists and revokes them, and finds their owners. */
export interface Keys {
  readonly lookup: KeyLookup;
  /** Creates a key. Returns null if the plan allows no more keys, or if the account was deleted or changed its plan. */
  create(sql: Queryable, request: KeyRequest): Promise<CreatedKey | null>;
  /** Lists a page of keys, newest first, and the total number. */
  list(filter: KeyFilter, limit: number, offset: number): Promise<{ keys: readonly ListedKey[]; total: number }>;
  /**
   * Revokes a key: this replica refuses it from now on, others within milliseconds. Returns false if there is none.
   * `within` is called in the transaction with the key's account and name, which is its first characters if it has none.
   */
  revoke(id: number, within?: (tx: Queryable, key: RevokedKey) => Promise<void>): Promise<boolean>;
  /**
   * Revokes those keys of a user in a locked account that are chosen, in the transaction of the caller, who makes this
   * replica forget them (`lookup`) after its commit. Returns their ids and names.
   */
  revokeOf(
    tx: Queryable,
    maker: { readonly accountId: number; readonly madeBy: number },
    isChosen: (id: number) => boolean,
  ): Promise<readonly { readonly id: number; readonly name: string }[]>;
  /** Finds the account of a key; null if the key is not valid. */
  accountOf(key: string): Promise<number | null>;
  /** Names a key in records of changes: "key deploy", or by its first characters if it has no name. */
  label(sql: Queryable, id: number): Promise<string>;
  /** Returns the keys of an account without their values, for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Makes every replica look up the account's keys again. Call it in the transaction that changes the account. */
  accountChanged(sql: Queryable, accountId: number): Promise<void>;
}

/** A key without its value. */
export type KeyEntry = Awaited<ReturnType<Keys["list"]>>["keys"][number];

/** How exactly the last use is noted, milliseconds. */
const NOTED_MS = 300_000;
/** More keys than an account has. */
const MOST_LISTED = 100_000;

/**
 * Opens the keys of one replica and starts to listen for keys that other replicas revoke. Requests wait for look-ups on
 * `gate`.
 */
export function createKeys({
  sql,
  gate,
  notifications,
  plans,
  clock,
  random,
}: Pick<App, "sql" | "clock" | "random"> & {
  readonly gate: GuardedDatabase;
  readonly notifications: Notifications;
  readonly plans: Plans;
}): Keys {
  async function load(digests: readonly string[]): Promise<ReadonlyMap<string, Principal>> {
    const rows = await gate.run((client) => findKeys(client, digests));
    const now = clock.now();
    const due = rows.flatMap(({ id, usedAt }) =>
      usedAt === null || usedAt.getTime() + NOTED_MS <= now.getTime() ? id : [],
    );
    // No request waits for it, or fails with it.
    if (due.length > 0) gate.run((client) => noteUse(client, due, now)).catch(() => {});
    return new Map(
      rows.map((row) => {
        const plan = plans[row.plan];
        const scopes = effectiveScopes(row.scopes, plan.scopes);
        return [row.digest, { keyId: row.id, accountId: row.accountId, plan, scopes }];
      }),
    );
  }
  const lookup = createKeyLookup({ clock, load });

  notifications.listen(
    KEY_CHANNEL,
    (payload) => {
      const [kind, value = ""] = payload.split(":", 2);
      if (kind === "key") lookup.forgetKey(value);
      else if (kind === "account") lookup.forgetAccount(Number(value));
    },
    () => lookup.forgetAll(),
  );

  return {
    lookup,
    async create(queryable, { account, name, scopes, madeBy }) {
      const key = createKey(random);
      const plan = plans[account.plan];
      const id = await insertKey(queryable, {
        accountId: account.id,
        plan: account.plan,
        name,
        digest: digestKey(key),
        prefix: keyPrefix(key),
        scopes,
        madeBy,
        mostKeys: plan.keys,
        now: clock.now(),
      });
      return id === null ? null : { id, key, prefix: keyPrefix(key), scopes: effectiveScopes(scopes, plan.scopes) };
    },
    async list(filter, limit, offset) {
      const [keys, total] = await Promise.all([listKeys(sql, filter, limit, offset), countKeys(sql, filter)]);
      return { keys, total };
    },
    async revoke(id, within = () => Promise.resolve()) {
      const digest = await transact(sql, async (tx) => {
        const deleted = await deleteKey(tx, id);
        if (deleted !== null) await within(tx, deleted);
        return deleted?.digest ?? null;
      });
      if (digest !== null) lookup.forgetKey(digest);
      return digest !== null;
    },
    async revokeOf(tx, maker, isChosen) {
      const ids = (await listKeys(tx, maker, MOST_LISTED, 0)).flatMap(({ id }) => (isChosen(id) ? id : []));
      return ids.length === 0 ? [] : deleteKeys(tx, maker.accountId, ids);
    },
    async accountOf(key) {
      if (!isWellFormedKey(key)) return null;
      const [found] = await findKeys(sql, [digestKey(key)]);
      return found?.accountId ?? null;
    },
    async label(queryable, id) {
      const [key] = await listKeys(queryable, { id }, 1, 0);
      return `key ${key?.name ?? key?.prefix ?? id}`;
    },
    async export(queryable, accountId) {
      const rows = await listKeys(queryable, { accountId }, plans.captain.keys * 10, 0);
      return rows.map(({ id, name, prefix, scopes, createdAt }) => ({
        id,
        name,
        prefix,
        scopes,
        created_at: createdAt,
      }));
    },
    async accountChanged(queryable, accountId) {
      await notifyAccountChanged(queryable, accountId);
    },
  };
}
