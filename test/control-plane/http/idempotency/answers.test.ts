import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { type Transaction } from "#control-plane/core/database/connect.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { createAnswers, type Answer, type KeyedWrite, sweepAnswers } from "#control-plane/http/idempotency/answers.ts";
import { identifyWrite } from "#control-plane/http/idempotency/identity.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
const ANSWER: Answer = { status: 202, code: null, requestId: "req_1", body: '{"data":"a secret of the account"}' };

const database = await stopAfterAll(openDatabase());
const { sql } = database;
const log = pino({ level: "silent" });
const answers = createAnswers({
  timers: liveTimers,
  sql,
  clock,
  encryption: createEncryption(MASTER_KEY, systemRandom),
  log,
});
const [row] = await sql<{ id: number }[]>`
  insert into accounts (plan, created_at, updated_at) values ('pro', now(), now()) returning id`;
const accountId = row?.id ?? 0;

afterAll(async () => {
  answers.close();
});

const ROUTE = { keyId: 1, method: "POST", route: "/api/v4/batch", params: {}, query: {} };

const write = (key: string, body = "{}") => ({
  identity: identifyWrite({ ...ROUTE, body: Buffer.from(body) }, key),
  accountId,
});
const once = (key: string, { body = "{}", make = () => Promise.resolve(ANSWER) } = {}): Promise<KeyedWrite> =>
  answers.once(write(key, body), async () => ({ answer: await make() }));
const count = async () => (await sql<{ n: number }[]>`select count(*) as n from idempotent_answers`)[0]?.n;

describe("an answer", () => {
  it("is created once and replayed for a minute", async () => {
    expect(await once("minute")).toEqual({ kind: "made", answer: ANSWER });
    const never = () => Promise.reject(new Error("made again"));
    clock.advance(59_999);
    expect(await once("minute", { make: never })).toEqual({ kind: "replayed", answer: ANSWER });
    clock.advance(1);
    expect((await once("minute")).kind).toBe("made");
  });

  it("is not replayed for a different request with the same key", async () => {
    await once("other");
    expect(await once("other", { body: '{"x":1}' })).toEqual({ kind: "other" });
  });

  it("does not make a second attempt wait: the attempt learns that the first one is running", async () => {
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<Answer>();
    const first = once("slow", {
      make: () => {
        begun.resolve();
        return go.promise;
      },
    });
    await begun.promise;
    expect(await once("slow")).toEqual({ kind: "running" });
    go.resolve(ANSWER);
    expect((await first).kind).toBe("made");
    expect((await once("slow")).kind).toBe("replayed");
  });

  it("is not stored if its transaction fails", async () => {
    await expect(once("fails", { make: () => Promise.reject(new Error("no")) })).rejects.toThrow("no");
    expect((await once("fails")).kind).toBe("made");
  });

  it("is stored together with the last statements of its write, or with none of them", async () => {
    const countWrites = async () => (await sql<{ n: number }[]>`select count(*) as n from finished_writes`)[0]?.n;
    await sql`create table finished_writes (name text primary key)`;
    const finish = (tx: Transaction) => tx`insert into finished_writes values ('one')`;
    expect((await answers.once(write("last"), async () => ({ answer: ANSWER, finish }))).kind).toBe("made");
    expect(await countWrites()).toBe(1);
    // The second insert fails: PostgreSQL answers the COMMIT that follows with a rollback, and no error.
    await expect(answers.once(write("fails at last"), async () => ({ answer: ANSWER, finish }))).rejects.toThrow(
      "duplicate key",
    );
    expect((await once("fails at last")).kind).toBe("made");
  });

  it("is encrypted in the database, and can only be decrypted in its own row", async () => {
    await once("sealed");
    await once("sealed elsewhere", { make: () => Promise.resolve({ ...ANSWER, body: "{}" }) });
    const rows = await sql<{ answer: Uint8Array }[]>`select answer from idempotent_answers`;
    for (const { answer } of rows) expect(Buffer.from(answer).toString("latin1")).not.toContain("secret");
    const [from, to] = [write("sealed").identity.scope, write("sealed elsewhere").identity.scope];
    await sql`update idempotent_answers set answer = (select answer from idempotent_answers where scope = ${from})
      where scope = ${to}`;
    await expect(once("sealed elsewhere")).rejects.toThrow("encrypted with another");
  });

  it("is deleted by the housekeeping after its expiry, and together with its account", async () => {
    await once("old");
    clock.advance(60_000);
    await once("new");
    await sweepAnswers(sql, clock.now());
    expect(await count()).toBe(1);
    await sql`delete from accounts where id = ${accountId}`;
    expect(await count()).toBe(0);
  });
});
