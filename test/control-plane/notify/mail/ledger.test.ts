import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { findLimits, judgeMails, recordMails, sweepLedger } from "#control-plane/notify/mail/ledger.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { openQueueDatabase, type QueueDatabase } from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

const HOUR = 3_600_000;
const NOW = new Date("2026-06-01T12:00:00Z");
const encryption = createEncryption(MASTER_KEY, systemRandom);
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR);
const row = (recipient: string, accountId: number | null, page: string | null, hours = 0) => {
  const by = { caller: null, network: null };
  return { purpose: "confirmation", recipient, accountId, page, ...by, sentAt: ago(hours) } as const;
};
const invite = (recipient: string, accountId: number | null, hours = 0) => {
  return { ...row(recipient, accountId, null, hours), purpose: "invite" } as const;
};
const asked = (purpose: "reset" | "sign_up", recipient: string, caller: string, network = "n", hours = 0) => {
  return { ...row(recipient, null, null, hours), purpose, caller, network };
};
const many = <Row>(count: number, make: (n: number) => Row) => Array.from({ length: count }, (_, n) => make(n));
const NONE = { mails: 0, signUps: 0 };

describe("the limits of mails", () => {
  it.each([
    ["one a day for a recipient and page", [row("a", 1, "shop", 23)], row("a", 2, "shop"), "page"],
    ["another one after a day", [row("a", 1, "shop", 24)], row("a", 1, "shop"), null],
    ["another page", [row("a", 1, "shop", 1)], row("a", 1, "blog"), null],
    ["another recipient", [row("a", 1, "shop", 1)], row("b", 1, "shop"), null],
    [
      "three a day in all",
      [row("a", 1, "x", 1), row("a", 2, null, 2), row("a", 3, "y", 3)],
      row("a", 4, "z"),
      "recipient",
    ],
    ["alerts too", [row("a", 1, "x", 1), row("a", 2, null, 2), row("a", 3, "y", 3)], row("a", 4, null), "recipient"],
    ["fifty an hour for an account", many(50, (n) => row(`r${n}`, 1, "x", 0.5)), row("a", 1, "x"), "account"],
    ["after an hour", many(50, (n) => row(`r${n}`, 1, "x", 1)), row("a", 1, "x"), null],
    [
      "three new passwords a day",
      many(3, (n) => asked("reset", "a", `c${n}`, "n", 5)),
      asked("reset", "a", "c"),
      "recipient",
    ],
    ["sign-ups apart", many(3, (n) => asked("sign_up", "a", `c${n}`)), asked("reset", "a", "c"), null],
    ["invites apart", many(3, (n) => invite("a", n)), asked("reset", "a", "c"), null],
    ["three invites a day", many(3, (n) => invite("a", n, 23)), invite("a", 4), "recipient"],
    ["ten an hour for a caller", many(10, (n) => asked("sign_up", `r${n}`, "c")), asked("reset", "a", "c"), "caller"],
    ["a caller after an hour", many(10, (n) => asked("reset", `r${n}`, "c", "n", 1)), asked("reset", "a", "c"), null],
    [
      "a hundred an hour for a network",
      many(100, (n) => asked("reset", `r${n}`, `c${n}`)),
      asked("sign_up", "a", "c"),
      "caller",
    ],
    ["another network", many(100, (n) => asked("reset", `r${n}`, `c${n}`)), asked("reset", "a", "c", "m"), null],
    ["fifty invites an hour for an account", many(50, (n) => invite(`r${n}`, 1, 0.5)), invite("a", 1), "invites"],
    [
      "invites and confirmations of an account together",
      [...many(25, (n) => invite(`r${n}`, 1)), ...many(25, (n) => row(`s${n}`, 1, null))],
      invite("a", 1),
      "account",
    ],
    ["invites of the operator apart", many(50, (n) => invite(`r${n}`, null)), invite("a", null), null],
  ])("%s", (_, sent, wanted, limit) => {
    expect(judgeMails(sent, NONE, [wanted], NOW)).toEqual([limit]);
  });

  it.each([
    ["confirmations", row("a", 1, null)],
    ["invites", invite("a", 1)],
    ["sign-ups", asked("sign_up", "a", "c")],
  ])("a thousand an hour in all: %s", (_, wanted) => {
    expect(judgeMails([], { mails: 999, signUps: 0 }, [wanted], NOW)).toEqual([null]);
    expect(judgeMails([], { mails: 1_000, signUps: 0 }, [wanted], NOW)).toEqual(["service"]);
  });

  it("three hundred of them for sign-ups, and none for new passwords", () => {
    const signUps = [1, 2].map((n) => asked("sign_up", `a${n}`, `c${n}`));
    expect(judgeMails([], { mails: 500, signUps: 299 }, [...signUps, invite("a", 1)], NOW)).toEqual([
      null,
      "service",
      null,
    ]);
    expect(judgeMails([], { mails: 1_000, signUps: 300 }, [asked("reset", "a", "c")], NOW)).toEqual([null]);
  });

  it("count those before in the same list", () => {
    const wanted = [1, 2, 3, 4].map((account) => row("a", account, null));
    expect(judgeMails([row("a", 9, null, 1)], NONE, [...wanted, row("b", 5, null)], NOW)).toEqual([
      null,
      null,
      "recipient",
      "recipient",
      null,
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

  const confirmation = (accountId: number, email: string, page: string | null) =>
    ({ purpose: "confirmation", accountId, email, page, caller: null }) as const;
  const record = async (wanted: Parameters<typeof findLimits>[2], now = NOW) =>
    transact(db.sql, async (tx) => {
      const limits = await findLimits(tx, encryption, wanted, now);
      const allowed = wanted.filter((_, index) => limits[index] === null);
      if (allowed.length > 0) await recordMails(tx, encryption, allowed, now);
      return allowed.length;
    });
  const take = (email: string, page: string | null) => record([confirmation(db.accountId, email, page)]);

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

  it("counts callers by address and by network, IPv6 addresses by their /64 and /48, and does not hold them", async () => {
    const ask = (n: number, caller: string) =>
      record([{ purpose: "sign_up", email: `${n}@example.com`, accountId: null, page: null, caller }]);
    const counts = async (callers: readonly string[]) => {
      let sum = 0;
      for (const [n, caller] of callers.entries()) sum += await ask(n, caller);
      return sum;
    };
    expect(await counts(Array.from({ length: 11 }, () => "198.51.100.1"))).toBe(10);
    expect(await counts(Array.from({ length: 11 }, (_, n) => `2001:db8:1:2::${n + 1}`))).toBe(10);
    const network = Array.from({ length: 91 }, (_, n) => n + 3);
    await db.sql`truncate confirmation_ledger`;
    expect(await counts(network.flatMap((n) => [`198.51.100.${n}`, `2001:db8:1:${n}::1`]))).toBe(182);
    const others = Array.from({ length: 11 }, (_, n) => n + 200);
    expect(await counts(others.map((n) => `198.51.100.${n}`))).toBe(9);
    const [stored] = await db.sql<{ text: string }[]>`select l::text as text from confirmation_ledger as l limit 1`;
    expect(stored?.text).not.toContain("198.51");
  });

  it("outlives the account, and is forgotten after 48 hours", async () => {
    const gone = await openQueueDatabase(database.url);
    await transact(gone.sql, (tx) =>
      recordMails(tx, encryption, [confirmation(gone.accountId, "a@example.com", "shop")], NOW),
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
