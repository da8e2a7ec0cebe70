import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, expect, test } from "vitest";
import { examine } from "#shared/client/doctor/examine.ts";
import { rateDescriptorLimit, rateDisk, rateMemory } from "#shared/client/doctor/host.ts";
import { checkValueOf } from "#shared/settings/master-key.ts";
import type { Finding } from "#shared/client/doctor/finding.ts";
import { freePort } from "#test/support/free-port.ts";
import { daysFromNow, issue } from "#test/servers/pki.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

const directory = mkdtempSync(join(tmpdir(), "vantage-doctor-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const NOW = () => new Date();

async function base(): Promise<Record<string, string>> {
  return {
    VANTAGE_DATA_DIR: directory,
    VANTAGE_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_METRICS_ADDR: "off",
    VANTAGE_AGENT_METRICS_ADDR: "off",
    // No server listens there, so the answer is quick and no packet leaves the machine.
    VANTAGE_DNS_SERVERS: "127.0.0.1:1",
  };
}

async function find(more: Record<string, string>, now = NOW): Promise<readonly Finding[]> {
  return examine({ environment: { ...(await base()), ...more }, directory, now, report: () => {} });
}

async function findOn(subject: string, more: Record<string, string>, now = NOW): Promise<Finding | undefined> {
  const findings = await find(more, now);
  return (
    findings.find((finding) => finding.subject === subject && finding.level !== "ok") ??
    findings.find((finding) => finding.subject === subject)
  );
}

test("a new machine has no failure, and each finding that is not ok has a remedy", async () => {
  const findings = await find({});
  expect(findings.filter((finding) => finding.level === "fail")).toEqual([]);
  for (const { level, subject, todo } of findings) expect(todo !== undefined, subject).toBe(level !== "ok");
  expect(new Set(findings.map((finding) => finding.subject))).toEqual(
    new Set([
      "node",
      "settings",
      "data directory",
      "disk",
      "memory",
      "master key",
      "agent identity",
      "database",
      "ports",
      "tls",
      "descriptors",
      "raw sockets",
      "dns",
      "mail",
      "clock",
      "chromium",
    ]),
  );
});

test("too few descriptors are reported with the ways to raise the limit", () => {
  expect(rateDescriptorLimit(1_024).level).toBe("ok");
  expect(rateDescriptorLimit(200)).toMatchObject({
    level: "warn",
    message: expect.stringContaining("only 200"),
    todo: expect.stringContaining("LimitNOFILE="),
  });
});

test("a disk without room for data or for files, and too little memory, are reported", () => {
  const many = 1_000_000;
  expect(rateDisk("here", { bytes: 5e9, files: many })).toMatchObject({ level: "ok" });
  expect(rateDisk("here", { bytes: 9e8, files: many })).toMatchObject({
    level: "warn",
    message: "here: only 900 MB are free",
  });
  expect(rateDisk("here", { bytes: 9e7, files: many })).toMatchObject({ level: "fail" });
  expect(rateDisk("here", { bytes: 5e9, files: 9 })).toMatchObject({
    level: "fail",
    message: expect.stringContaining("9 more files"),
  });
  expect(rateMemory(1e9)).toMatchObject({ level: "ok" });
  expect(rateMemory(3e8)).toMatchObject({ level: "warn", todo: expect.stringContaining("MemoryMax=") });
});

test("a database that cannot store all text fails, and one whose rules of sorting have changed is to be indexed again", async () => {
  const own = await createTestDatabase();
  const sql = postgres(own.url, { max: 1, onnotice: () => {} });
  const [{ name } = { name: "" }] = await sql<{ name: string }[]>`select current_database() as name`;
  await sql`update pg_database set datcollversion = '2.28' where datname = ${name}`;
  expect(await findOn("database encoding", { DATABASE_URL: own.url })).toMatchObject({
    level: "warn",
    message: expect.stringContaining("2.28 then"),
    todo: `in psql: REINDEX DATABASE "${name}"; ALTER DATABASE "${name}" REFRESH COLLATION VERSION`,
  });
  await sql.unsafe(`create database ${name}_ascii encoding 'SQL_ASCII' locale 'C' template template0`);
  const url = own.url.replace(name, `${name}_ascii`);
  expect(await findOn("database encoding", { DATABASE_URL: url })).toMatchObject({
    level: "fail",
    message: expect.stringContaining("SQL_ASCII"),
    todo: expect.stringContaining("createdb --encoding=UTF8"),
  });
  await sql.unsafe(`drop database ${name}_ascii with (force)`);
  await sql.end();
  await own.drop();
});

test("the command prints a line for each finding and exits with 1 on a failure", async () => {
  const good = await runVantage(["doctor"], await base());
  expect(good.status).toBe(0);
  expect(good.said).toMatch(/^ok {4}settings: valid$/m);
  const bad = await runVantage(["doctor", "--http-addr", "nonsense"], await base());
  expect(bad.status).toBe(1);
  expect(bad.said).toMatch(/^fail {2}settings: VANTAGE_HTTP_ADDR must be .* -> correct it$/m);
});

test("every setting is listed on request, secrets without a value", async () => {
  const ran = await runVantage(["doctor", "--settings"], { VANTAGE_ADMIN_TOKEN: "hunter2" });
  expect(ran.said).toContain("VANTAGE_WEBHOOK_RETRY_SCHEDULE (control-plane): delay before each delivery attempt");
  expect(ran.said).not.toContain("hunter2");
});

test("a port in use fails, or warns if another can be used", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const taken = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  expect(await findOn("ports", { VANTAGE_GRPC_ADDR: taken })).toMatchObject({
    level: "fail",
    todo: "set VANTAGE_GRPC_ADDR",
  });
  expect(await findOn("ports", { VANTAGE_METRICS_ADDR: taken })).toMatchObject({ level: "warn" });
  server.close();
});

test("the operator's own database is asked for its version, and its clock is compared", async () => {
  const own = await createTestDatabase();
  expect(await findOn("database", { DATABASE_URL: own.url })).toMatchObject({
    level: "ok",
    message: "PostgreSQL 18 answers",
  });
  const late = () => new Date(Date.now() + 3_600_000);
  expect(await findOn("clock", { DATABASE_URL: own.url }, late)).toMatchObject({
    level: "warn",
    message: expect.stringContaining("differ by 3600 s"),
  });
  await own.drop();
  const away = await findOn("database", { DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" });
  expect(away).toMatchObject({ level: "fail", message: "DATABASE_URL cannot be used (ECONNREFUSED)" });
});

test("accounts whose address has no normal form, or a domain in other letters, are listed", async () => {
  const own = await createTestDatabase();
  const sql = postgres(own.url, { max: 1, onnotice: () => {} });
  const emails = ["Ops.Team@example.com", "J\u00F6rg@example.com", null, "ops@b\u00FCcher.example", "a..b@example.com"];
  await sql`
    insert into accounts (email, plan, created_at, updated_at)
    select email, 'free', now(), now() from unnest(${emails}::text[]) as email`;
  expect(await findOn("addresses", { DATABASE_URL: own.url })).toMatchObject({
    level: "warn",
    message: expect.stringContaining(": 2, 4, 5"),
  });
  await sql.end();
  await own.drop();
});

test("the newest backup by schedule is shown, and why it failed", async () => {
  const own = await createTestDatabase();
  const sql = postgres(own.url, { max: 1, onnotice: () => {} });
  const settings = { DATABASE_URL: own.url, VANTAGE_BACKUP_DIR: "/backups", VANTAGE_BACKUP_SCHEDULE: "0 3 * * *" };
  expect(await findOn("backup", settings)).toMatchObject({ level: "warn", message: "none was made by schedule" });
  await sql`
    insert into backups (file, started_at, ended_at, bytes) values ('a', '2026-03-01T03:00Z', '2026-03-01T03:01Z', 1)`;
  expect(await findOn("backup", settings)).toMatchObject({
    level: "ok",
    message: "the newest is of 2026-03-01T03:01:00.000Z",
  });
  await sql`
    insert into backups (file, started_at, ended_at, error)
    values ('b', '2026-03-02T03:00Z', '2026-03-02T03:01Z', 'the disk is full')`;
  expect(await findOn("backup", settings)).toMatchObject({
    level: "warn",
    message: "the newest failed at 2026-03-02T03:01:00.000Z: the disk is full",
  });
  await sql.end();
  await own.drop();
});

test("a second replica on the database must advertise its address, and so must the first", async () => {
  const own = await createTestDatabase();
  const sql = postgres(own.url, { max: 1, onnotice: () => {} });
  // Late enough to be alive on a busy machine.
  const later = new Date(Date.now() + 60_000);
  const address = "one.example:50051";
  await sql`insert into replicas (id, address, started_at, seen_at) values ('one', ${address}, ${later}, ${later})`;
  expect(await findOn("replicas", { DATABASE_URL: own.url })).toMatchObject({
    level: "warn",
    message: "1 of 2 on this database advertise no address: agents may be unable to find every replica",
    todo: expect.stringContaining("VANTAGE_GRPC_ADVERTISE"),
  });
  const advertised = { DATABASE_URL: own.url, VANTAGE_GRPC_ADVERTISE: "two.example:50051" };
  expect(await findOn("replicas", advertised)).toMatchObject({ level: "ok" });
  await sql`update replicas set address = ''`;
  expect(await findOn("replicas", advertised)).toMatchObject({ level: "warn" });
  await sql.end();
  await own.drop();
});

test("TLS files are read, and checked for a matching pair and expiry", async () => {
  const write = async (name: string, days: number) => {
    const { pem, keyPem } = await issue({
      dns: ["localhost"],
      notBefore: daysFromNow(-9),
      notAfter: daysFromNow(days),
    });
    writeFileSync(join(directory, `${name}.pem`), pem);
    writeFileSync(join(directory, `${name}.key`), keyPem);
  };
  await write("good", 90);
  await write("short", 5);
  await write("old", -3);
  const on = (cert: string, key: string) =>
    findOn("tls", { VANTAGE_TLS_CERT: `${cert}.pem`, VANTAGE_TLS_KEY: `${key}.key` });
  expect(await on("good", "good")).toMatchObject({ level: "ok" });
  expect(await on("short", "short")).toMatchObject({ level: "warn", todo: "renew it" });
  expect(await on("old", "old")).toMatchObject({ level: "fail", message: "the certificate has expired" });
  expect(await on("good", "old")).toMatchObject({ level: "fail", message: expect.stringContaining("does not match") });
  expect(await on("missing", "good")).toMatchObject({ level: "fail" });
});

test("a public API without TLS and an unlisted proxy cause warnings", async () => {
  expect(await findOn("tls", { VANTAGE_HTTP_ADDR: "0.0.0.0:8443" })).toMatchObject({ level: "warn" });
  expect(await findOn("tls", { VANTAGE_BASE_URL: "https://a.example" })).toMatchObject({
    level: "warn",
    todo: "set VANTAGE_TRUSTED_PROXIES to the proxy's address",
  });
});

test("unsafe values cause warnings; unreadable files and an unset clock fail", async () => {
  expect(await findOn("settings", { VANTAGE_ALLOW_TARGETS: "10.0.0.0/8" })).toMatchObject({ level: "warn" });
  expect(await findOn("settings", { VANTAGE_ADMIN_TOKEN: "x" })).toMatchObject({ level: "warn" });
  expect(await findOn("files", { VANTAGE_GEO_DB: "no.mmdb" })).toMatchObject({
    level: "fail",
    message: expect.stringContaining("ENOENT"),
  });
  expect(await findOn("clock", {}, () => new Date(0))).toMatchObject({ level: "fail" });
  expect(await findOn("chromium", { VANTAGE_CHROMIUM: "/nowhere/chromium" })).toMatchObject({ level: "fail" });
});

test("a master key is valid and readable only by its owner", async () => {
  expect(await findOn("master key", {})).toMatchObject({ message: expect.stringContaining("first start") });
  const file = join(directory, "master-key");
  writeFileSync(file, `${Buffer.alloc(32).toString("base64")}\n`, { mode: 0o600 });
  expect(await findOn("master key", {})).toMatchObject({
    level: "ok",
    message: expect.stringContaining("keep a copy"),
  });
  chmodSync(file, 0o644);
  expect(await findOn("master key", {})).toMatchObject({ level: "fail", todo: `chmod 600 ${file}` });
  writeFileSync(file, "torn");
  expect(await findOn("master key", {})).toMatchObject({ level: "fail", message: expect.stringContaining("32 bytes") });
  rmSync(file);
  const given = { VANTAGE_MASTER_KEY: Buffer.alloc(32).toString("base64") };
  expect(await findOn("master key", given)).toMatchObject({ level: "ok", message: "set by VANTAGE_MASTER_KEY" });
});

test("a master key that is not the database's is found before the service refuses to start", async () => {
  const own = await createTestDatabase();
  const sql = postgres(own.url, { max: 1, onnotice: () => {} });
  const key = Buffer.alloc(32, 1);
  const given = { DATABASE_URL: own.url, VANTAGE_MASTER_KEY: key.toString("base64") };
  expect(await findOn("master key", given)).toMatchObject({ level: "ok" });
  await sql`insert into instance (name, value) values ('master_key_check', ${Buffer.from(checkValueOf(key))})`;
  expect(await findOn("master key", given)).toMatchObject({ level: "ok" });
  const other = { ...given, VANTAGE_MASTER_KEY: Buffer.alloc(32, 2).toString("base64") };
  expect(await findOn("master key", other)).toMatchObject({
    level: "fail",
    message: expect.stringMatching(/^VANTAGE_MASTER_KEY is not the key/),
    todo: expect.stringContaining("set VANTAGE_MASTER_KEY"),
  });
  const missing = join(directory, "master-key");
  writeFileSync(`${missing}.next`, "");
  expect(await findOn("master key", { DATABASE_URL: own.url })).toMatchObject({
    level: "fail",
    message: expect.stringContaining(missing),
    todo: "end the rotation: deploy/vantage rotate master-key",
  });
  rmSync(`${missing}.next`);
  await sql.end();
  await own.drop();
});

test("an agent's identity has an expiry, is private and complete", async () => {
  const state = join(directory, "state");
  const folder = join(state, "identity");
  const on = () => findOn("agent identity", { VANTAGE_STATE_DIR: state, VANTAGE_REGION: "eu-west" });
  const enrolled = async (days: number) => {
    const { pem, keyPem } = await issue({ dns: ["a"], notBefore: daysFromNow(-20), notAfter: daysFromNow(days) });
    writeFileSync(join(folder, "certificate.pem"), pem);
    writeFileSync(join(folder, "key.pem"), keyPem, { mode: 0o600 });
  };
  expect(await on()).toMatchObject({ level: "ok", message: "no agent of region eu-west has enrolled here" });
  mkdirSync(folder, { recursive: true });
  expect(await on()).toMatchObject({ level: "fail", message: expect.stringContaining("damaged (ENOENT)") });
  await enrolled(20);
  expect(await on()).toMatchObject({ level: "ok", message: expect.stringContaining("eu-west") });
  await enrolled(5);
  expect(await on()).toMatchObject({ level: "warn", message: expect.stringContaining("was not renewed") });
  await enrolled(-1);
  expect(await on()).toMatchObject({
    level: "fail",
    todo: expect.stringContaining("deploy/vantage probes token --region eu-west"),
  });
  chmodSync(join(folder, "key.pem"), 0o640);
  expect(await on()).toMatchObject({ level: "fail", todo: `chmod 600 ${folder}/key.pem` });
});
