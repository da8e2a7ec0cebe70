import { liveTimers } from "#test/support/timers.ts";
import { createHash, X509Certificate } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { guardDatabase, type GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createEncryption, type Encryption } from "#control-plane/core/secrets/encryption.ts";
import { openAuthorities, type Authorities } from "#control-plane/checks/probes/authorities.ts";
import {
  createAuthority,
  MAX_REQUEST_BYTES,
  openAuthority,
  parseCertificateRequest,
} from "#control-plane/checks/probes/authority.ts";
import { createManualClock, systemClock, systemRandom } from "#test/support/clock.ts";
import { makeRequest } from "#test/support/enrol.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const NOW = new Date("2026-03-01T12:00:00.750Z");
const SECOND = new Date("2026-03-01T12:00:00Z").getTime();
const DAY = 86_400_000;
const clock = createManualClock(NOW);

/** Creates an authority without a database. */
async function make() {
  return openAuthority(await createAuthority(clock, systemRandom), clock, systemRandom);
}

/** Issues a client certificate of an authority. */
async function issueTo(authority: Awaited<ReturnType<typeof make>>, agentId: string) {
  const key = await parseCertificateRequest((await makeRequest()).der);
  if (key === null) throw new Error("a valid request was refused");
  const planned = authority.plan();
  return { planned, der: await authority.issueClient({ ...planned, agentId }, key) };
}

/** Returns the days from the clock's time, in whole seconds, to a date. */
function days(date: Date): number {
  return (date.getTime() - SECOND) / DAY;
}

describe("the authority", () => {
  it("has a self-signed certificate for ten years from yesterday, which allows no other authorities", async () => {
    const { certificate, fingerprint } = await make();
    const own = new X509Certificate(certificate);
    expect(own.ca).toBe(true);
    expect(own.verify(own.publicKey)).toBe(true);
    expect(own.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    expect([days(own.validFromDate), days(own.validToDate)]).toEqual([-1, 3_650]);
    expect(fingerprint).toBe(createHash("sha256").update(certificate).digest("hex"));
    expect(fingerprint).toBe(own.fingerprint256.replaceAll(":", "").toLowerCase());
  });

  it("issues the listener a certificate for the fixed name for 90 days, with its own in the chain", async () => {
    const authority = await make();
    const { chain, notAfter } = await authority.issueServer();
    const [leaf, last] = chain.split(/(?<=-----END CERTIFICATE-----\n)/).map((pem) => new X509Certificate(pem));
    expect(last?.raw).toEqual(Buffer.from(authority.certificate));
    expect(leaf?.checkHost(CONTROL_PLANE_NAME)).toBe(CONTROL_PLANE_NAME);
    expect(leaf?.checkHost("localhost")).toBe("localhost");
    expect(leaf?.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(leaf?.ca).toBe(false);
    expect(leaf !== undefined && last !== undefined && leaf.checkIssued(last) && leaf.verify(last.publicKey)).toBe(
      true,
    );
    expect(leaf && [days(leaf.validFromDate), days(leaf.validToDate)]).toEqual([-1, 90]);
    expect(leaf?.validToDate).toEqual(notAfter);
  });

  it("issues agents certificates for their id for 30 days, regardless of the name in the request", async () => {
    const authority = await make();
    const { der, planned } = await issueTo(authority, "eu-west-0123456789ab");
    const leaf = new X509Certificate(der);
    expect(leaf.subject).toBe("CN=eu-west-0123456789ab");
    expect(leaf.subjectAltName).toBeUndefined();
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect([days(leaf.validFromDate), days(leaf.validToDate)]).toEqual([-1, 30]);
    expect(leaf.serialNumber.toLowerCase()).toBe(planned.serial);
    expect(planned.serial).toMatch(/^[4-7][0-9a-f]{31}$/);
    expect(authority.identify(der)).toEqual({ agentId: "eu-west-0123456789ab", ...planned });
    expect((await make()).identify(der)).toBeNull();
    expect(authority.identify(authority.certificate)).toBeNull();
    expect(authority.identify(Buffer.from("no certificate"))).toBeNull();
    expect(authority.identify(Buffer.alloc(0))).toBeNull();
  });

  it("issues chains that OpenSSL accepts for their purpose only", async () => {
    const authority = await make();
    const folder = mkdtempSync(join(tmpdir(), "authority-"));
    const pem = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ca = pem("ca.pem", authority.pem);
    const server = pem("server.pem", (await authority.issueServer()).chain);
    const client = pem("client.pem", new X509Certificate((await issueTo(authority, "agent-0001")).der).toString());
    const verify = (purpose: string, file: string) => {
      const at = String(SECOND / 1_000);
      try {
        const strict = ["verify", "-x509_strict", "-attime", at, "-purpose", purpose, "-CAfile", ca, file];
        return execFileSync("openssl", strict, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      } catch (error) {
        return (error as { stderr: string }).stderr;
      }
    };
    expect(verify("sslserver", server)).toMatch(/: OK/);
    expect(verify("sslclient", client)).toMatch(/: OK/);
    expect(verify("sslserver", client)).toMatch(/unsuitable certificate purpose|unsupported certificate purpose/);
    expect(verify("sslclient", server)).toMatch(/unsuitable certificate purpose|unsupported certificate purpose/);
    rmSync(folder, { recursive: true });
  });
});

describe("a certificate request", () => {
  it("is accepted for a P-256 key that signed it", async () => {
    expect(await parseCertificateRequest((await makeRequest()).der)).not.toBeNull();
  });

  it("is refused for another curve, or if altered, truncated, deeply nested, too large, or not a request", async () => {
    const { der } = await makeRequest();
    const altered = Buffer.from(der);
    altered[altered.length - 3] = (altered.at(-3) ?? 0) ^ 1;
    const renamed = Buffer.from(der.toString("latin1").replace("anyone", "nobody"), "latin1");
    expect(renamed.equals(der)).toBe(false);
    const padded = Buffer.concat([der, Buffer.alloc(MAX_REQUEST_BYTES)]);
    const nested = Buffer.concat(Array.from({ length: 1_000 }, () => Buffer.from([0x30, 0x80])));
    const huge = await makeRequest("P-256", `CN=${"x".repeat(MAX_REQUEST_BYTES)}`);
    const bad = [
      (await makeRequest("P-384")).der,
      altered,
      renamed,
      padded,
      huge.der,
      nested,
      der.subarray(0, 100),
      Buffer.from("garbage"),
      systemRandom.bytes(1_000),
      Buffer.alloc(0),
    ];
    for (const request of bad) expect(await parseCertificateRequest(request)).toBeNull();
  });
});

describe("the installation's authority", () => {
  const encryption = createEncryption(Buffer.alloc(32, 7), systemRandom);
  let testDatabase: TestDatabase;
  let sql: Sql;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    sql = connect(testDatabase.url, { name: "test", connections: 8, statementTimeoutMs: 10_000 });
  });

  afterAll(async () => {
    await sql.end();
    await testDatabase.drop();
  });

  let guarded: GuardedDatabase;
  beforeAll(() => {
    const one = { name: "test", connections: 1, statementTimeoutMs: 10_000 };
    guarded = guardDatabase(() => connect(testDatabase.url, one), 10_000);
  });
  const opened: Authorities[] = [];
  afterEach(() => {
    for (const authorities of opened.splice(0)) authorities.close();
  });
  afterAll(() => guarded.close());

  /** Opens the authorities of a replica that hears of no change by a notification. */
  async function open(own: Encryption, sweepMs = 60_000): Promise<Authorities> {
    const log = pino({ level: "silent" });
    const deps = { sql, database: guarded, encryption: own, clock: systemClock, random: systemRandom, log };
    const notifications = { listen: () => {} };
    const authorities = await openAuthorities({ ...deps, notifications, timers: liveTimers, sweepMs });
    opened.push(authorities);
    return authorities;
  }
  const load = async (own: Encryption) => (await open(own)).serving();

  it("is the same for all replicas, even if many start at the same time, and stays the same", async () => {
    const replicas = await Promise.all(Array.from({ length: 8 }, () => load(encryption)));
    const again = await load(encryption);
    expect(new Set([...replicas, again].map(({ fingerprint }) => fingerprint)).size).toBe(1);
    // Each of them has the private key.
    const { der } = await issueTo(replicas[0]!, "agent-0001");
    expect(again.identify(der)).toMatchObject({ agentId: "agent-0001" });
  });

  it("is encrypted in the database, and only its master key decrypts it", async () => {
    const [row] = await sql<{ key: Uint8Array }[]>`select private_key as key from authority`;
    expect(Buffer.from(row?.key ?? []).includes(Buffer.from("2a8648ce3d0201", "hex"))).toBe(false);
    const other = createEncryption(Buffer.alloc(32, 8), systemRandom);
    const opening = load(other);
    await expect(opening).rejects.toThrow("master key");
  });

  it("is another one at every replica after a change, also if its notification was lost", async () => {
    const [changing, following] = [await open(encryption), await open(encryption, 20)];
    const { serving, next } = await changing.begin();
    await until(() => following.accepted().length === 2, "the second authority at the other replica");
    expect((await changing.begin()).next?.fingerprint).toBe(next?.fingerprint);
    // Too young: a replica may not know it yet.
    expect(following.issuing(serving.id, true).authority.id).toBe(serving.id);
    expect(following.fingerprints()).toHaveLength(1);
    expect(await changing.finish(false)).toMatchObject({ isDone: true, state: { next: null } });
    await until(() => following.serving().fingerprint === next?.fingerprint, "the second authority alone");
    expect(following.accepted()).toEqual([next?.pem]);
    expect(await changing.finish(true)).toBeNull();
    const [one, other] = await Promise.all([changing.begin(), changing.begin()]);
    expect(one.next?.id).toBe((next?.id ?? 0) + 1);
    expect(other.next?.fingerprint).toBe(one.next?.fingerprint);
  });
});
