import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/database/transaction.ts";
import {
  chooseAllowed,
  chooseConfirmations,
  recordConfirmations,
  sweepLedger,
} from "#control-plane/mail/ledger/ledger.ts";
import { createEncryption } from "#control-plane/secrets/encryption.ts";
import { openQueueDatabase, type QueueDatabase } from "#test/control-plane/deliveries/queue-parts.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

const HOUR = 3_600_000;
const NOW = new Date("2026-06-01T12:00:00Z");
const encryption = createEncryption(MASTER_KEY, systemRandom);
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR);
const row = (recipient: string, accountId: number, page: string | null, hours = 0) => {
  return { recipient, accountId, page, sentAt: ago(hours) };
};

describe("the limits of confirmations", () => {
  it.each([
    ["one a day for a recipient and page", [row("a", 1, "shop", 23)], row("a", 2, "shop"), false],
    ["another one after a day", [row("a", 1, "shop", 24)], row("a", 1, "shop"), true],
    ["another page", [row("a", 1, "shop", 1)], row("a", 1, "blog"), true],
    ["another recipient", [row("a", 1, "shop", 1)], row("b", 1, "shop"), true],
    ["three a day in all", [row("a", 1, "x", 1), row("a", 2, null, 2), row("a", 3, "y", 3)], row("a", 4, "z"), false],
    ["alerts too", [row("a", 1, "x", 1), row("a", 2, null, 2), row("a", 3, "y", 3)], row("a", 4, null), false],
    [
      "fifty an hour for an account",
      Array.from({ length: 50 }, (_, n) => row(`r${n}`, 1, "x", 0.5)),
      row("a", 1, "x"),
      false,
    ],
    ["after an hour", Array.from({ length: 50 }, (_, n) => row(`r${n}`, 1, "x", 1)), row("a", 1, "x"), true],
  ])("%s", (_, sent, wanted, isAllowed) => {
    expect(chooseAllowed(sent, [wanted], NOW)).toEqual([isAllowed]);
  });

  it("count those before in the same list", () => {
    const wanted = [1, 2, 3, 4].map((account) => row("a", account, null));
    expect(chooseAllowed([row("a", 9, null, 1)], [...wanted, row("b", 5, null)], NOW)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ]);
  });
});

describe("the ledger", () => {
  let database: TestDatabase;
  let db: QueueDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = await openQueueDatabase(database.url);
  });
  afterAll(async () => {
    await db?.sql.end();
    await database?.drop();
  });
  beforeEach(() => db.sql`truncate confirmation_ledger`);

  const take = (email: string, page: string | null, now = NOW) =>
    transact(db.sql, async (tx) => {
      const wanted = [{ accountId: db.accountId, email, page }];
      const allowed = await chooseConfirmations(tx, encryption, wanted, now);
      if (allowed.length > 0) await recordConfirmations(tx, encryption, allowed, now);
      return allowed.length;
    });

  it("knows an address in upper and lower case, and does not hold it", async () => {
    expect(await take("Victim@example.com", "shop")).toBe(1);
    expect(await take("victim@EXAMPLE.com", "shop")).toBe(0);
    const [stored] = await db.sql<{ text: string }[]>`select l::text as text from confirmation_ledger as l`;
    expect(stored?.text).not.toMatch(/victim|example/i);
  });

  it("allows no more to transactions at the same time", async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => take("victim@example.com", `page-${n}`)));
    expect(taken.filter((count) => count === 1)).toHaveLength(3);
  });

  it("outlives the account, and is forgotten after 48 hours", async () => {
    const gone = await openQueueDatabase(database.url);
    await transact(gone.sql, (tx) =>
      recordConfirmations(tx, encryption, [{ accountId: gone.accountId, email: "a@example.com", page: "shop" }], NOW),
    );
    await gone.sql`delete from accounts where id = ${gone.accountId}`;
    await gone.sql.end();
    expect(await take("a@example.com", "shop")).toBe(0);
    await sweepLedger(db.sql, new Date(NOW.getTime() + 48 * HOUR));
    expect(await db.sql`select from confirmation_ledger`).toHaveLength(1);
    await sweepLedger(db.sql, new Date(NOW.getTime() + 48 * HOUR + 1));
    expect(await db.sql`select from confirmation_ledger`).toHaveLength(0);
  });
});
