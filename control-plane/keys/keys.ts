import type { Clock, Random } from "#shared/clock.ts";
import type { Scope } from "#shared/tools/define.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { digestKey, makeKey, shownPart } from "#control-plane/keys/format.ts";
import { createKeyLookup, type KeyLookup } from "#control-plane/keys/lookup.ts";
import { effectiveScopes, type Principal } from "#control-plane/access/principal.ts";
import {
  countKeys,
  deleteKey,
  findKeys,
  insertKey,
  KEY_CHANNEL,
  listKeys,
  notifyAccountChanged,
  type KeyFilter,
  type ListedKey,
} from "#control-plane/keys/store.ts";
import type { PlanName, Plans } from "#control-plane/plans/plans.ts";

/** What a new key is asked to be; without scopes it has the plan's, also after a change of plan. */
interface KeyRequest {
  readonly account: { readonly id: number; readonly plan: PlanName };
  readonly name: string | null;
  readonly scopes: readonly Scope[] | null;
}

/** A key just made, in clear for the only time. */
interface MadeKey {
  readonly id: number;
  readonly key: string;
  readonly scopes: readonly Scope[];
}

/** Keys: making, listing, revoking, and telling whose they are. */
export interface Keys {
  readonly lookup: KeyLookup;
  /** Makes a key; null where the account's allowance is used up or the account changed meanwhile. */
  create(sql: Queryable, request: KeyRequest): Promise<MadeKey | null>;
  /** A page of keys, newest first, and how many there are in all. */
  list(filter: KeyFilter, limit: number, offset: number): Promise<{ keys: readonly ListedKey[]; total: number }>;
  /** Revokes a key: this replica refuses it from now on, the others within milliseconds. false: there was none. */
  revoke(id: number): Promise<boolean>;
  /** An account's keys without the keys themselves, for its export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Makes every replica look up an account's keys anew; call it in the transaction that changes the account. */
  accountChanged(sql: Queryable, accountId: number): Promise<void>;
}

/** What the keys stand on. */
interface KeysDeps {
  readonly sql: Sql;
  /** For look-ups a request waits for. */
  readonly gate: GuardedDatabase;
  readonly notifications: Notifications;
  readonly plans: Plans;
  readonly clock: Clock;
  readonly random: Random;
}

/** Builds the keys of one replica and starts listening for what the others revoke. */
export function createKeys({ sql, gate, notifications, plans, clock, random }: KeysDeps): Keys {
  async function load(digests: readonly string[]): Promise<ReadonlyMap<string, Principal>> {
    const rows = await gate.run((client) => findKeys(client, digests));
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
    async create(queryable, { account, name, scopes }) {
      const key = makeKey(random);
      const plan = plans[account.plan];
      const id = await insertKey(queryable, {
        accountId: account.id,
        plan: account.plan,
        name,
        digest: digestKey(key),
        prefix: shownPart(key),
        scopes,
        mostKeys: plan.keys,
        now: clock.now(),
      });
      return id === null ? null : { id, key, scopes: effectiveScopes(scopes, plan.scopes) };
    },
    async list(filter, limit, offset) {
      const [keys, total] = await Promise.all([listKeys(sql, filter, limit, offset), countKeys(sql, filter)]);
      return { keys, total };
    },
    async revoke(id) {
      const digest = await deleteKey(sql, id);
      if (digest !== null) lookup.forgetKey(digest);
      return digest !== null;
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
