// What a release leaves in its database, for test/control-plane/core/migrations/releases.test.ts. Not a test. With the release
// checked out and installed in DIR, and an empty database of a PostgreSQL 15 that pg_dump 15 can read:
//
//   DATABASE_URL=... node test/recording/release.ts DIR | gzip -9n >test/fixtures/upgrade/NNNN.sql.gz
//
// It starts that release, uses it through its doors for a minute or two, stops it, and prints the dump. A release without a
// feature refuses its requests, and a field that it does not know is left out.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "#shared/text/is-record.ts";
import { freePort } from "#test/support/free-port.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

const TOKEN = "token of a recorded release".replaceAll(" ", "-");
const MOST_WAITS = 60;

type Fields = Record<string, unknown>;

const [, , directory] = process.argv;
const url = process.env["DATABASE_URL"];
if (directory === undefined || url === undefined) throw new Error("usage: DATABASE_URL=... node release.ts DIR");

const site = createServer((request, response) => {
  response.statusCode = request.url === "/broken" ? 500 : 200;
  response.end(request.url === "/json" ? '{"ok":true}' : "Welcome");
}).listen(0, "127.0.0.1");
await once(site, "listening");
const { port } = site.address() as AddressInfo;
const shop = `http://127.0.0.1:${port}`;
const base = `http://127.0.0.1:${await freePort()}`;
const release = spawn("npm", ["start"], {
  cwd: directory,
  detached: true,
  stdio: "ignore",
  env: {
    PATH: process.env["PATH"],
    DATABASE_URL: url,
    VANTAGE_HTTP_ADDR: new URL(base).host,
    VANTAGE_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_DATA_DIR: mkdtempSync(join(tmpdir(), "vantage-release-")),
    VANTAGE_ADMIN_TOKEN: TOKEN,
    VANTAGE_MASTER_KEY: MASTER_KEY.toString("base64"),
    VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
  },
});
while ((await ask("GET", "/readyz")).status !== 200) await sleep(500);

const operator = { authorization: `Bearer ${TOKEN}` };
const account = await post("/api/admin/accounts", { email: "Ada.Lovelace@Example.com", plan: "captain" }, operator);
const { key = "", account_id } = await post(
  "/api/admin/keys",
  { plan: "captain", account_id: account["id"] },
  operator,
);
await post("/api/admin/keys", { plan: "free" }, operator);
await post("/api/admin/invites", { account_id, role: "editor" }, operator);
await post("/api/admin/probe-tokens", { region: "eu-west", ttl_seconds: 3_600, reusable: true }, operator);
const { url: link } = await post("/api/admin/sign-in-links", { account_id }, operator);
if (typeof link === "string") {
  const person = { email: "Grace.Hopper@Example.COM", password: "correct horse battery staple" };
  const form = new URLSearchParams(person).toString();
  const headers = { origin: base, "content-type": "application/x-www-form-urlencoded" };
  await ask("POST", new URL(link).pathname, form, headers);
}

const caller = { "x-api-key": String(key) };
await post("/api/v4/check", { url: shop }, caller);
await post("/api/v4/batch", { urls: [shop, `${shop}/broken`] }, { ...caller, "x-idempotency-key": "batch" });
for (const [format, format_options] of Object.entries({
  standard: undefined,
  slack: undefined,
  pagerduty: { routing_key: "R".repeat(32) },
  alertmanager: undefined,
}))
  await post(
    "/api/v4/webhooks",
    { name: format, url: `https://127.0.0.1:${port}/${format}`, format, format_options },
    caller,
  );

const heartbeats: string[] = [];
const ids: unknown[] = [];
for (const monitor of [
  { name: "Shop", url: shop, request_headers: { authorization: "Bearer secret" }, notify_emails: ["Ops@Example.com"] },
  { name: "Broken page", url: `${shop}/broken` },
  { name: "Text", url: shop, check_type: "keyword", keyword: "Welcome", tags: ["demo"] },
  { name: "JSON", url: `${shop}/json`, json: { path: "$.ok", op: "equals", value: "a\u0000b\ud800" } },
  { name: "Port", url: "127.0.0.1", check_type: "port", port },
  { name: "TCP", url: `tcp://127.0.0.1:${port}`, check_type: "tcp" },
  { name: "Ping", url: "127.0.0.1", check_type: "ping" },
  { name: "Certificate", url: "https://127.0.0.1", check_type: "ssl" },
  { name: "Domain", url: "example.com", check_type: "domain" },
  { name: "Nightly", check_type: "heartbeat", heartbeat: { cron: "30 2 * * *", timezone: "Europe/Berlin" } },
  { name: "Late", check_type: "heartbeat", heartbeat: { period_seconds: 30, grace_seconds: 10 } },
]) {
  const made = await post("/api/v4/monitors", { check_type: "http", interval_minutes: 1, ...monitor }, caller);
  if (made["id"] !== undefined) ids.push(made["id"]);
  if (typeof made["heartbeat_url"] !== "string") continue;
  const path = new URL(made["heartbeat_url"]).pathname;
  heartbeats.push(path);
  for (const end of ["", "/start", "", "/fail", "/3", ""]) await ask("POST", path + end, "a line of the job");
}
const some = ids.slice(0, 2);
await post("/api/v4/monitors", { name: "All", check_type: "composite", composite: { monitor_ids: some } }, caller);
await ask("PUT", `/api/v4/monitors?id=${String(ids[2])}`, JSON.stringify({ depends_on: ids[0] }), {
  ...caller,
  "content-type": "application/json",
});
const page = await post(
  "/api/v4/status",
  { title: "Demo", slug: "demo-shop", monitors: some.map((id) => ({ id })) },
  caller,
);
const incident = { title: "Slow", text: "We look into it", status: "investigating", impact: "minor", public: true };
await post("/api/v4/incidents", { ...incident, page_ids: [page["id"]], monitor_ids: some }, caller);
const window = { starts_at: "2030-01-01T00:00:00Z", ends_at: "2030-01-01T01:00:00Z" };
await post("/api/v4/maintenance", { title: "Disks", ...window, monitor_ids: some, public: true }, caller);
await ask("GET", "/api/v4/audit-export?type=tenant", undefined, caller);
// Until what is broken has been found, if this release watches anything.
for (let waits = 0; ids.length > 0 && waits < MOST_WAITS; waits += 1) {
  const { body } = await ask("GET", "/api/v4/incidents", undefined, caller);
  if (JSON.stringify(body).includes("Broken page")) break;
  await sleep(5_000);
}
if (release.pid !== undefined) process.kill(-release.pid, "SIGINT");
await once(release, "exit");
site.close();
const dump = execFileSync("pg_dump", ["--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges", url], {
  maxBuffer: 2 ** 28,
}).toString();
process.stdout.write(`-- ${JSON.stringify({ key, heartbeats })}\n${dump.replaceAll(/^\\(?:un)?restrict .*\n/gm, "")}`);

async function ask(method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(base + path, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  })
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => ({ status: 0, text: "" }));
  try {
    return { status: answer.status, body: JSON.parse(answer.text) as unknown };
  } catch {
    return { status: answer.status, body: null };
  }
}

/** Sends a request, without the fields that the release refuses. Returns the data of the answer; {}: it is refused. */
async function post(path: string, fields: Fields, headers: Readonly<Record<string, string>>): Promise<Fields> {
  const left = { ...fields };
  for (;;) {
    const { status, body } = await ask("POST", path, JSON.stringify(left), {
      ...headers,
      "content-type": "application/json",
    });
    const { data, error } = isRecord(body) ? body : {};
    if (status < 300) return isRecord(data) ? data : {};
    const unknown = /^([a-z_]+): no such field/.exec(isRecord(error) ? String(error["message"]) : "")?.[1];
    if (unknown === undefined || !(unknown in left)) {
      process.stderr.write(`${path} ${JSON.stringify(left)}: ${status} ${JSON.stringify(error)}\n`);
      return {};
    }
    delete left[unknown];
  }
}
