import { liveTimers } from "#test/support/timers.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, connectListener, type Sql } from "#control-plane/core/database/connect.ts";
import { guardDatabase, type GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createNotifications, type Notifications } from "#control-plane/core/database/notifications.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Holder } from "#control-plane/checks/probes/authority.ts";
import { createGatekeeper, refuseHolder } from "#control-plane/checks/probes/gatekeeper.ts";
import { enableProbe, revokeProbe, type StoredProbe } from "#control-plane/checks/probes/store.ts";
import { systemClock } from "#test/support/clock.ts";
import { endClient } from "#test/support/end-client.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

const LATER = new Date(Date.now() + 86_400_000);
/** A certificate of this test is just the agent's id. The tests of the authority cover signatures. */
const authority = {
  identify: (certificate: Uint8Array): Holder | null => ({
    agentId: Buffer.from(certificate).toString(),
    serial: "aa",
    notAfter: LATER,
  }),
};

describe("the check of a certificate's holder", () => {
  const now = new Date("2026-03-01T12:00:00Z");
  const holder: Holder = { agentId: "agent-eu", serial: "cc", notAfter: new Date(now.getTime() + 1) };
  const row: StoredProbe = {
    id: "agent-eu",
    region: "eu",
    accountId: null,
    enabled: true,
    revokedAt: null,
    serial: "cc",
    previousSerial: "bb",
  };

  it("accepts the newest certificate and the previous one, for enabled and disabled agents", () => {
    expect(refuseHolder(holder, row, now)).toBeNull();
    expect(refuseHolder({ ...holder, serial: "bb" }, row, now)).toBeNull();
    expect(refuseHolder(holder, { ...row, enabled: false }, now)).toBeNull();
  });

  it("rejects revoked and erased agents as revoked, and expired and replaced certificates as identity", () => {
    expect(refuseHolder(holder, null, now)?.reason).toBe("revoked");
    expect(refuseHolder(holder, { ...row, revokedAt: now }, now)?.reason).toBe("revoked");
    expect(refuseHolder({ ...holder, notAfter: now }, row, now)?.reason).toBe("identity");
    expect(refuseHolder({ ...holder, serial: "aa" }, row, now)?.reason).toBe("identity");
    expect(refuseHolder({ ...holder, serial: "bb" }, { ...row, previousSerial: null }, now)?.reason).toBe("identity");
  });
});

describe("the gatekeeper", () => {
  let database: TestDatabase;
  let sql: Sql;
  let guarded: GuardedDatabase;
  let listener: Sql;
  let heard: [string, Enrolled | null][];
  const open: { close(): void }[] = [];
  const deaf: Notifications = { listen: () => {} };

  beforeAll(async () => {
    database = await createTestDatabase();
    sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
    guarded = guardDatabase(
      () => connect(database.url, { name: "gate", connections: 1, statementTimeoutMs: 30_000 }),
      30_000,
    );
    listener = connectListener(database.url, "listener");
  });

  afterAll(async () => {
    await Promise.all([sql.end(), guarded.close(), endClient(listener)]);
    await database.drop();
  });

  beforeEach(async () => {
    heard = [];
    await sql`delete from probes`;
    await sql`
      insert into probes (id, region, certificate_serial, certificate_expires_at, enrolled_at, enrolled_by)
      values ('agent-eu', 'eu', 'aa', ${LATER}, now(), sha256('eu')),
        ('agent-us', 'us', 'aa', ${LATER}, now(), sha256('us'))`;
  });

  afterEach(() => {
    for (const keeper of open.splice(0)) keeper.close();
  });

  /** Opens a gatekeeper whose only source of changes are the given options. */
  function keep(notifications: Notifications, sweepMs = 60_000, gate = guarded) {
    const keeper = createGatekeeper({ authority, database: gate, notifications, clock: systemClock, sweepMs });
    keeper.onChange((agentId, enrolled) => heard.push([agentId, enrolled]));
    open.push(keeper);
    return keeper;
  }

  const admit = (keeper: ReturnType<typeof keep>, id: string) => keeper.admit(Buffer.from(id));

  it("reports every change of admitted agents, and of no others", async () => {
    const keeper = keep(createNotifications(listener, liveTimers));
    expect(await admit(keeper, "agent-eu")).toEqual({
      ok: true,
      enrolled: { agentId: "agent-eu", region: "eu", accountId: null, enabled: true },
    });
    await enableProbe(sql, "agent-us", false);
    await enableProbe(sql, "agent-eu", false);
    await expect.poll(() => heard).toHaveLength(1);
    await enableProbe(sql, "agent-eu", false);
    await enableProbe(sql, "agent-eu", true);
    await expect.poll(() => heard).toHaveLength(2);
    await revokeProbe(sql, "agent-eu", new Date());
    await expect.poll(() => heard).toHaveLength(3);
    expect(heard.map(([id, enrolled]) => [id, enrolled?.enabled ?? null])).toEqual([
      ["agent-eu", false],
      ["agent-eu", true],
      ["agent-eu", null],
    ]);
    expect(await admit(keeper, "agent-eu")).toMatchObject({
      ok: false,
      rejection: { reason: "revoked", retry: false },
    });
    expect(await admit(keeper, "agent-us")).toMatchObject({ ok: true, enrolled: { enabled: false } });
  });

  it("finds changes without a notification", async () => {
    const keeper = keep(deaf, 50);
    await admit(keeper, "agent-eu");
    await admit(keeper, "agent-us");
    await sql`delete from probes where id = 'agent-eu'`;
    await expect.poll(() => heard).toEqual([["agent-eu", null]]);
  });

  it("reads all admitted agents again after notifications may have been lost", async () => {
    let reset = () => {};
    const keeper = keep({ listen: (_channel, _onMessage, onReset) => void (reset = onReset) });
    await admit(keeper, "agent-eu");
    await sql`update probes set revoked_at = now() where id = 'agent-eu'`;
    reset();
    await expect.poll(() => heard).toEqual([["agent-eu", null]]);
  });

  it("reads an enrolment again if it changed during the read", async () => {
    let say = (_payload: string) => {};
    const blocked = Promise.withResolvers<void>();
    let looks = 0;
    const slow: GuardedDatabase = {
      close: () => Promise.resolve(),
      async run(work) {
        const came = await guarded.run(work);
        looks += 1;
        if (looks === 1) await blocked.promise;
        return came;
      },
    };
    const keeper = keep({ listen: (_channel, onMessage) => void (say = onMessage) }, 60_000, slow);
    const admission = admit(keeper, "agent-eu");
    await expect.poll(() => looks).toBe(1);
    await revokeProbe(sql, "agent-eu", new Date());
    say("agent-eu");
    blocked.resolve();
    expect(await admission).toMatchObject({ ok: false, rejection: { reason: "revoked" } });
  });

  it("tells an agent to retry while the database is away, and reports missed changes afterwards", async () => {
    let away = false;
    let say = (_payload: string) => {};
    const flaky: GuardedDatabase = {
      close: () => Promise.resolve(),
      run: (work) => (away ? Promise.reject(new Error("away")) : guarded.run(work)),
    };
    const keeper = keep({ listen: (_channel, onMessage) => void (say = onMessage) }, 60_000, flaky);
    await admit(keeper, "agent-eu");
    away = true;
    expect(await admit(keeper, "agent-us")).toMatchObject({ ok: false, rejection: { retry: true } });
    await revokeProbe(sql, "agent-eu", new Date());
    say("agent-eu");
    away = false;
    await expect.poll(() => heard).toEqual([["agent-eu", null]]);
  });
});
