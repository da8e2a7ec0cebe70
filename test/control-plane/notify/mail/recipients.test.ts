import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { openToken, queueConfirmations } from "#control-plane/notify/mail/recipients/confirmations.ts";
import {
  createRecipients,
  type AccountEmails,
  type Recipients,
} from "#control-plane/notify/mail/recipients/recipients.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { openQueueDatabase } from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const encryption = createEncryption(MASTER_KEY, systemRandom);
let clock: ReturnType<typeof createManualClock>;
let recipients: Recipients;
let ownAddress: string | null;

const database = await stopAfterAll(createTestDatabase());
const db = await openQueueDatabase(database.url);
afterAll(async () => {
  await db.sql.end();
});
const accountEmails: AccountEmails = (_sql, ids) =>
  Promise.resolve(new Map(ownAddress === null ? [] : ids.map((id) => [id, ownAddress ?? ""])));
beforeEach(async () => {
  await db.sql`truncate mail_recipients, mail_confirmations, confirmation_ledger, events cascade`;
  clock = createManualClock(new Date("2026-06-01T12:00:00Z"));
  ownAddress = "Owner@example.com";
  recipients = createRecipients({ sql: db.sql, clock, accountEmails });
});

const ensure = (emails: readonly string[] | null, accountId = db.accountId): Promise<void> =>
  transact(db.sql, (tx) => recipients.ensureRecipients(tx, accountId, emails));
const receivers = async (emails: readonly string[] | null) =>
  (await transact(db.sql, (tx) => recipients.recipientsOf(tx, [{ accountId: db.accountId, emails }])))[0];
const queue = () => queueConfirmations({ sql: db.sql, clock, random: systemRandom, encryption });

/** Reads the confirmation mails in the queue: address and token. */
async function readQueue(): Promise<readonly { readonly email: string; readonly token: string }[]> {
  const rows = await db.sql<{ email: string; sealed: Uint8Array }[]>`
    select d.recipient as email, r.token_sealed as sealed from deliveries as d
      join mail_recipients as r on r.id = d.receiver_id join events as e on e.id = d.event_id
    where e.type = 'confirm' and d.released_at is not null order by d.id`;
  return rows.map(({ email, sealed }) => ({ email, token: openToken(encryption, sealed) ?? "" }));
}

describe("a recipient", () => {
  it("gets nothing before its address is confirmed by the link of its mail", async () => {
    await ensure(["ops@example.com"]);
    expect(await receivers(["ops@example.com"])).toEqual([]);
    expect(await recipients.statusOf(db.sql, db.accountId, ["ops@example.com"])).toEqual([
      { email: "ops@example.com", confirmed: false, unsubscribedAt: null },
    ]);
    await queue();
    const [mail] = await readQueue();
    expect(await recipients.findLink(mail?.token ?? "")).toEqual({ kind: "open", email: "ops@example.com" });
    expect(await receivers(["ops@example.com"])).toEqual([]);
    expect(await recipients.confirm(mail?.token ?? "")).toEqual({ kind: "used", email: "ops@example.com" });
    expect(await receivers(["OPS@Example.com"])).toMatchObject([{ recipient: "ops@example.com" }]);
    expect(await recipients.statusOf(db.sql, db.accountId, ["OPS@example.com"])).toEqual([
      { email: "OPS@example.com", confirmed: true, unsubscribedAt: null },
    ]);
  });

  it("is the account's own address by default", async () => {
    await ensure(null);
    await queue();
    expect(await readQueue()).toMatchObject([{ email: "Owner@example.com" }]);
    ownAddress = null;
    await ensure(null);
    expect(await recipients.statusOf(db.sql, db.accountId, null)).toEqual([]);
    expect(await receivers(null)).toEqual([]);
  });

  it("that is no address is never mailed and never confirmed", async () => {
    const hostile = "a@example.com\r\nBcc: b@example.com";
    await ensure([hostile, "nobody"]);
    await queue();
    expect(await readQueue()).toEqual([]);
    expect(await recipients.statusOf(db.sql, db.accountId, [hostile])).toEqual([
      { email: hostile, confirmed: false, unsubscribedAt: null },
    ]);
  });

  it("of another account is not confirmed by this one", async () => {
    const other = await openQueueDatabase(database.url);
    await ensure(["ops@example.com"]);
    await ensure(["ops@example.com"], other.accountId);
    await queue();
    const [mail] = await readQueue();
    await recipients.confirm(mail?.token ?? "");
    expect(await recipients.statusOf(db.sql, other.accountId, ["ops@example.com"])).toEqual([
      { email: "ops@example.com", confirmed: false, unsubscribedAt: null },
    ]);
    await other.sql.end();
  });
});

describe("a link", () => {
  it("works once, and says so", async () => {
    await ensure(["ops@example.com"]);
    await queue();
    const [mail] = await readQueue();
    const token = mail?.token ?? "";
    const results = await Promise.all([recipients.confirm(token), recipients.confirm(token)]);
    expect(results).toEqual([
      { kind: "used", email: "ops@example.com" },
      { kind: "used", email: "ops@example.com" },
    ]);
    const [row] = await db.sql<{ sealed: Uint8Array | null }[]>`select token_sealed as sealed from mail_recipients`;
    expect(row?.sealed).toBeNull();
  });

  it("works for seven days", async () => {
    await ensure(["ops@example.com"]);
    await queue();
    const [mail] = await readQueue();
    clock.advance(7 * DAY);
    expect(await recipients.findLink(mail?.token ?? "")).toMatchObject({ kind: "unknown" });
    expect(await recipients.confirm(mail?.token ?? "")).toMatchObject({ kind: "unknown" });
    expect(await receivers(["ops@example.com"])).toEqual([]);
  });

  it.each(["", "x", "a".repeat(32), "'; drop table accounts; --", "%00".repeat(11), "a".repeat(100_000)])(
    "with the token %.20j leads nowhere",
    async (token) => {
      expect(await recipients.findLink(token)).toEqual({ kind: "unknown", email: null });
      expect(await recipients.confirm(token)).toEqual({ kind: "unknown", email: null });
    },
  );

  it("is not in the database in clear", async () => {
    await ensure(["ops@example.com"]);
    await queue();
    const [mail] = await readQueue();
    const rows =
      await db.sql`select r::text as text from mail_recipients as r union all select e::text from events as e`;
    expect(JSON.stringify(rows)).not.toContain(mail?.token);
  });
});

describe("confirmation mails", () => {
  it("are sent once, however often a monitor is saved, and again after a day", async () => {
    for (let n = 0; n < 5; n += 1) {
      await ensure(["ops@example.com", "Ops@example.com"]);
      await queue();
    }
    expect(await readQueue()).toHaveLength(1);
    clock.advance(DAY + 1);
    await ensure(["ops@example.com"]);
    await queue();
    expect(await readQueue()).toHaveLength(2);
  });

  it("are not sent to a confirmed address", async () => {
    await ensure(["ops@example.com"]);
    await queue();
    const [mail] = await readQueue();
    await recipients.confirm(mail?.token ?? "");
    clock.advance(2 * DAY);
    await ensure(["ops@example.com"]);
    await queue();
    const [row] = await db.sql<{ mails: number }[]>`select count(*) as mails from deliveries`;
    expect(row?.mails).toBe(1);
  });

  it("are at most three a day to one address, over all accounts, also if two replicas send them", async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => openQueueDatabase(database.url)));
    for (const { accountId } of others) await ensure(["Victim@example.com"], accountId);
    await Promise.all([queue(), queue()]);
    await queue();
    expect(await readQueue()).toHaveLength(3);
    clock.advance(DAY - HOUR);
    await queue();
    expect(await readQueue()).toHaveLength(3);
    clock.advance(HOUR);
    await queue();
    expect(await readQueue()).toHaveLength(5);
    await Promise.all(others.map(({ sql }) => sql.end()));
  });

  it("are at most fifty an hour for one account", async () => {
    await ensure(Array.from({ length: 60 }, (_, n) => `a${n}@example.com`));
    await queue();
    await queue();
    expect(await readQueue()).toHaveLength(50);
    clock.advance(HOUR + 1);
    await queue();
    expect(await readQueue()).toHaveLength(60);
  });

  it("that the limits hold back do not hold up others", async () => {
    await db.sql`
      with made as (
        insert into accounts (plan, created_at, updated_at) select 'free', now(), now() from generate_series(1, 120)
        returning id
      )
      insert into mail_recipients (account_id, email, created_at) select id, 'victim@example.com', now() from made`;
    await ensure(["ops@example.com"]);
    await queue();
    await queue();
    const sent = (await readQueue()).map(({ email }) => email);
    expect(sent.filter((email) => email === "victim@example.com")).toHaveLength(3);
    expect(sent).toContain("ops@example.com");
  });
});

it("confirmations that were taken back are not sent; the account's own address and sent links stay", async () => {
  await ensure(["sent@example.com", "queued@example.com", "Owner@example.com"]);
  await queue();
  const sent = (await readQueue()).find(({ email }) => email === "sent@example.com");
  await db.sql`update deliveries set status = 'delivered', due_at = null where recipient = 'sent@example.com'`;
  await ensure(["waiting@example.com"]);
  const emails = ["sent@example.com", "QUEUED@example.com", "owner@example.com", "waiting@example.com"];
  await transact(db.sql, (tx) => recipients.withdrawRecipients(tx, db.accountId, emails));
  await queue();
  expect(
    await db.sql`select recipient, status, error_code, due_at is null as ended from deliveries order by 1`,
  ).toEqual([
    { recipient: "Owner@example.com", status: "pending", error_code: null, ended: false },
    { recipient: "queued@example.com", status: "failed", error_code: "not_needed", ended: true },
    { recipient: "sent@example.com", status: "delivered", error_code: null, ended: true },
  ]);
  expect(await recipients.confirm(sent?.token ?? "")).toEqual({ kind: "used", email: "sent@example.com" });
});

it("addresses that nobody confirmed are forgotten after a month", async () => {
  await ensure(["ops@example.com", "lost@example.com"]);
  await queue();
  const [mail] = await readQueue();
  await recipients.confirm(mail?.token ?? "");
  clock.advance(31 * DAY);
  await recipients.sweep();
  expect(await recipients.export(db.sql, db.accountId)).toMatchObject([{ email: mail?.email }]);
});
