import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import type { Enrolment, Issuance } from "#control-plane/checks/dispatch/security.ts";
import { createAuthority, openAuthority, type Authority } from "#control-plane/checks/probes/authority.ts";
import { createEnrolment } from "#control-plane/checks/probes/probes.ts";
import { createToken, parseToken, type TokenRequest } from "#control-plane/checks/probes/tokens.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { makeRequest } from "#test/support/enrol.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let authority: Authority;
let clock: ReturnType<typeof createManualClock>;
let enrolment: Enrolment;
let registry: Registry;
let lines: string[];
const PEER = "192.0.2.7";

const database = await stopAfterAll(createTestDatabase());
const open = () => connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
const sql = open();
const guarded = guardDatabase(open, 30_000);

afterAll(async () => {
  await Promise.all([sql.end(), guarded.close()]);
});

beforeEach(async () => {
  clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
  authority = await openAuthority(await createAuthority(clock, systemRandom), clock, systemRandom);
  registry = new Registry();
  lines = [];
  const log = pino({ level: "info" }, { write: (line) => void lines.push(line) });
  enrolment = createEnrolment({
    authorities: onlyAuthority(),
    database: guarded,
    clock,
    random: systemRandom,
    log,
    registry,
  });
});

/** The authority without another one that takes its place. */
function onlyAuthority() {
  const own = { ...authority, id: 1, createdAt: clock.now() };
  return {
    serving: () => own,
    issuing: () => ({ authority: own, leaving: null }),
    identify(certificate: Uint8Array) {
      const holder = own.identify(certificate);
      return holder === null ? null : { ...holder, authorityId: own.id };
    },
  };
}

/** Creates a token of this authority. */
async function token(over: Partial<TokenRequest> = {}): Promise<string> {
  const request = { region: "eu-west", accountId: null, ttlSeconds: 3_600, reusable: false, ...over };
  const made = await createToken(sql, request, { fingerprint: authority.fingerprint, clock, random: systemRandom });
  if (made === null) throw new Error("no account");
  return made.token;
}

async function enroll(joinToken: string, peer = PEER): Promise<Issuance> {
  return enrolment.enroll(joinToken, (await makeRequest()).der, peer);
}

/** Returns the number of calls so far, by result. */
async function results(): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric("vantage_enrolments_total")?.get();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [String(labels["result"]), value]));
}

describe("a join token", () => {
  it("enrols one agent, once", async () => {
    const once = await token();
    expect(once).toMatch(/^vjt_[A-Za-z0-9_-]{43}_[0-9a-f]{64}$/);
    expect(once.endsWith(authority.fingerprint)).toBe(true);
    const first = await enroll(once);
    expect(first).toMatchObject({ ok: true, issued: { agentId: expect.stringMatching(/^eu-west-[0-9a-f]{12}$/) } });
    expect(await enroll(once)).toMatchObject({ ok: false, fault: "identity" });
    expect(await results()).toEqual({ enrolled: 1, token_used: 1 });
  });

  it("gives its agent another certificate until it has attached, because the first answer can get lost", async () => {
    const joinToken = await token();
    const { der } = await makeRequest();
    const first = await enrolment.enroll(joinToken, der, PEER);
    const again = await enrolment.enroll(joinToken, der, PEER);
    if (!first.ok || !again.ok) throw new Error("refused");
    expect(again.issued.agentId).toBe(first.issued.agentId);
    expect(await sql`select 1 from probes where id = ${first.issued.agentId}`).toHaveLength(1);
    expect(await enroll(joinToken)).toMatchObject({ ok: false, fault: "identity" });
    await sql`update probes set last_seen_at = ${clock.now()} where id = ${first.issued.agentId}`;
    expect(await enrolment.enroll(joinToken, der, PEER)).toMatchObject({ ok: false, fault: "identity" });
  });

  it("gives no other certificate after the agent is revoked or the token has expired", async () => {
    for (const spoil of [
      (id: string) => sql`update probes set revoked_at = ${clock.now()} where id = ${id}`,
      () => Promise.resolve(clock.advance(3_600_001)),
    ]) {
      const joinToken = await token();
      const { der } = await makeRequest();
      const first = await enrolment.enroll(joinToken, der, PEER);
      if (!first.ok) throw new Error("refused");
      await spoil(first.issued.agentId);
      expect(await enrolment.enroll(joinToken, der, PEER)).toMatchObject({ ok: false, fault: "identity" });
    }
  });

  it("enrols one of many agents that redeem it at the same time", async () => {
    const once = await token();
    const came = await Promise.all(Array.from({ length: 8 }, () => enroll(once)));
    expect(came.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await results()).toEqual({ enrolled: 1, token_used: 7 });
    const { digest } = parseToken(once)!;
    expect(await sql`select 1 from join_tokens where digest = ${digest} and used_at is not null`).toHaveLength(1);
  });

  it("enrols any number of agents if it is reusable, each with its own id", async () => {
    const many = await token({ reusable: true });
    const came = await Promise.all(Array.from({ length: 4 }, () => enroll(many)));
    const ids = came.map((issuance) => issuance.ok && issuance.issued.agentId);
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain(false);
  });

  it("expires to the millisecond", async () => {
    const many = await token({ reusable: true, ttlSeconds: 60 });
    clock.advance(59_999);
    expect(await enroll(many)).toMatchObject({ ok: true });
    clock.advance(1);
    expect(await enroll(many)).toMatchObject({ ok: false, fault: "identity" });
    expect(await results()).toEqual({ enrolled: 1, token_expired: 1 });
  });

  it("has a specific failure reason for the operator but not for the caller, and is never logged", async () => {
    const used = await token();
    await enroll(used);
    const expired = await token({ ttlSeconds: 60 });
    clock.advance(60_000);
    const foreign = `${used.slice(0, -64)}${"0".repeat(64)}`;
    const unknown = `vjt_${"A".repeat(43)}_${authority.fingerprint}`;
    const tokens = [used, expired, foreign, unknown, "vjt_", ""];
    const answers = [];
    for (const bad of tokens) answers.push(await enroll(bad));
    expect(new Set(answers.map((issuance) => JSON.stringify(issuance))).size).toBe(1);
    expect(await results()).toEqual({
      enrolled: 1,
      token_used: 1,
      token_expired: 1,
      token_foreign: 1,
      token_unknown: 1,
      token_malformed: 2,
    });
    expect(lines).toHaveLength(7);
    for (const secret of tokens.slice(0, 4).map((bad) => bad.slice(4, 47)))
      expect(lines.join("")).not.toContain(secret);
  });

  it("is not used up by an invalid request", async () => {
    const once = await token();
    for (const request of [Buffer.from("garbage"), Buffer.alloc(100_000), (await makeRequest("P-384")).der]) {
      expect(await enrolment.enroll(once, request, PEER)).toMatchObject({ ok: false, fault: "request" });
    }
    expect(await enroll(once)).toMatchObject({ ok: true });
  });

  it("is stored only as a digest", async () => {
    const once = await token();
    const rows = await sql<{ row: string }[]>`select join_tokens::text as row from join_tokens`;
    expect(rows.map(({ row }) => row).join("\n")).not.toContain(once.slice(4, 47));
    const secret = Buffer.from(once.slice(4, 47), "base64url");
    expect(rows.map(({ row }) => row).join("\n")).not.toContain(secret.toString("hex"));
  });

  it("enrols private agents if it names an account", async () => {
    const [account] = await sql<{ id: number }[]>`
      insert into accounts (plan, created_at, updated_at) values ('pro', now(), now()) returning id`;
    const came = await enroll(await token({ accountId: account!.id, region: "lab" }));
    if (!came.ok) throw new Error(came.message);
    const { agentId } = came.issued;
    expect(await sql`select region, account_id, enabled from probes where id = ${agentId}`).toEqual([
      { region: "lab", account_id: account!.id, enabled: true },
    ]);
    await expect(token({ accountId: 999_999 })).rejects.toThrow("no account");
  });
});

describe("failures", () => {
  it("are limited to 30 a minute for an address, but a valid token is still accepted", async () => {
    const [good, another, spent] = [await token(), await token(), await token({ ttlSeconds: 1 })];
    clock.advance(2_000);
    for (let count = 0; count < 30; count += 1) expect(await enroll("guess")).toMatchObject({ fault: "identity" });
    const unknown = another.slice(0, -4) + (another.endsWith("AAAA") ? "BBBB" : "AAAA");
    for (const wrong of ["guess", unknown, spent]) expect(await enroll(wrong)).toMatchObject({ fault: "limit" });
    expect(await enroll(good)).toMatchObject({ ok: true });
    expect(await enroll(another, "192.0.2.8")).toMatchObject({ ok: true });
    // Above the limit no failure is logged.
    expect(lines).toHaveLength(32);
    clock.advance(60_000);
    expect(await enroll("guess")).toMatchObject({ fault: "identity" });
  });

  it("of strangers do not prevent an agent with the same address from renewing", async () => {
    const came = await enroll(await token());
    if (!came.ok) throw new Error(came.message);
    for (let count = 0; count < 30; count += 1) await enroll("guess");
    const { der } = await makeRequest();
    expect(await enrolment.renew(null, der, PEER, false)).toMatchObject({ fault: "limit" });
    expect(await enrolment.renew(came.issued.certificate, der, PEER, false)).toMatchObject({ ok: true });
  });

  it("of the control plane are not counted: the answer says that the database is away", async () => {
    const away = guardDatabase(
      () => connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 100 }),
      100,
    );
    await away.close();
    const log = pino({ level: "silent" });
    const other = createEnrolment({
      authorities: onlyAuthority(),
      database: away,
      clock,
      random: systemRandom,
      log,
      registry: new Registry(),
    });
    const { der } = await makeRequest();
    for (let count = 0; count < 35; count += 1) {
      expect(await other.enroll(`vjt_${"A".repeat(43)}_${authority.fingerprint}`, der, PEER)).toMatchObject({
        ok: false,
        fault: "away",
      });
    }
  });
});

describe("renewing", () => {
  it("needs a valid certificate of this authority", async () => {
    const came = await enroll(await token());
    if (!came.ok) throw new Error(came.message);
    const { certificate, agentId } = came.issued;
    const { der } = await makeRequest();
    clock.advance(30 * 86_400_000 - 1);
    const renewed = await enrolment.renew(certificate, der, PEER, false);
    expect(renewed).toMatchObject({ ok: true, issued: { agentId } });
    clock.advance(1);
    expect(await enrolment.renew(certificate, der, PEER, false)).toMatchObject({ ok: false, fault: "identity" });
    const next = renewed.ok ? renewed.issued.certificate : null;
    expect(await enrolment.renew(next, Buffer.from("garbage"), PEER, false)).toMatchObject({
      ok: false,
      fault: "request",
    });
    expect(await enrolment.renew(next, der, PEER, false)).toMatchObject({ ok: true });
    expect(await enrolment.renew(null, der, PEER, false)).toMatchObject({ ok: false, fault: "identity" });
    expect(await enrolment.renew(authority.certificate, der, PEER, false)).toMatchObject({
      ok: false,
      fault: "identity",
    });
    expect(await results()).toEqual({ enrolled: 1, renewed: 2, certificate: 3, request: 1 });
  });
});
