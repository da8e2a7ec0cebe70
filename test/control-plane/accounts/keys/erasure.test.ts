import { expect, it } from "vitest";
import { deleteAccount, insertAccount, lockAccount } from "#control-plane/accounts/store.ts";
import { isAccountGone } from "#control-plane/core/database/codes.ts";
import { deleteKey, insertKey } from "#control-plane/accounts/keys/store.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-03-01T12:00:00Z");

let made = 0;

const { sql } = await stopAfterAll(openDatabase());

async function createAccountWithKey(): Promise<{ accountId: number; keyId: number }> {
  const account = await insertAccount(sql, { email: null, plan: "free" }, NOW);
  const accountId = account?.id ?? 0;
  made += 1;
  const digest = made.toString(16).padStart(64, "0");
  const key = { accountId, plan: "free", name: null, digest, prefix: "vtg_test", scopes: null, mostKeys: 5, now: NOW };
  return { accountId, keyId: (await insertKey(sql, { ...key, plan: "free" })) ?? 0 };
}

it("erasing an account while its key is revoked works: one of them finds nothing, and neither fails", async () => {
  const { accountId, keyId } = await createAccountWithKey();
  let revoked: ReturnType<typeof deleteKey> | undefined;
  const erased = await sql.begin(async (erasing) => {
    const isThere = await lockAccount(erasing, accountId);
    revoked = deleteKey(sql, keyId);
    await untilLockIsAwaited(sql);
    await deleteAccount(erasing, accountId);
    return isThere;
  });
  expect(erased).toBe(true);
  expect(await revoked).toBeNull();
  expect(await sql`select from accounts where id = ${accountId}`).toHaveLength(0);
});

it("concurrent revocations of a key reduce the key count once", async () => {
  const { accountId, keyId } = await createAccountWithKey();
  const revoked = await Promise.all([deleteKey(sql, keyId), deleteKey(sql, keyId), deleteKey(sql, keyId)]);
  expect(revoked.filter((one) => one !== null)).toHaveLength(1);
  const [row] = await sql<{ count: number }[]>`select key_count::int as count from accounts where id = ${accountId}`;
  expect(row?.count).toBe(0);
});

it.each(["keys", "batches", "measurements", "idempotent_answers"])(
  "a violation because the account of %s was erased is distinguished from other errors",
  async (table) => {
    const [row] = await sql<{ name: string }[]>`
      select conname as name from pg_constraint
      where conrelid = to_regclass(${table}) and confrelid = 'accounts'::regclass and contype = 'f'`;
    expect(row?.name, `${table} refers to accounts`).toBeDefined();
    const gone = Object.assign(new Error("violates foreign key"), { code: "23503", constraint_name: row?.name });
    expect(isAccountGone(gone)).toBe(true);
    expect(isAccountGone(Object.assign(new Error("another"), { code: "23503", constraint_name: "x_fkey" }))).toBe(
      false,
    );
  },
);

it("a key that is inserted for a missing account is rejected with that error", async () => {
  const insert = sql`
    insert into keys (account_id, name, digest, prefix, created_at) values (999999, null, decode(repeat('ff', 32), 'hex'), 'vtg_test', ${NOW})`;
  await expect(insert).rejects.toSatisfy(isAccountGone);
});
