import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runVantage } from "#test/shared/client/command-line.ts";

interface Seen {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly json: unknown;
}

let seen: Seen[] = [];
let answer: { status: number; body: unknown } = { status: 200, body: {} };
const directory = mkdtempSync(join(tmpdir(), "vantage-cli-"));
const server = createServer((request, response) => {
  response.statusCode = answer.status;
  request.on("end", () => response.end(JSON.stringify(answer.body)));
  void record(request);
});

async function record(request: IncomingMessage): Promise<void> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const json: unknown = text === "" ? null : JSON.parse(text);
  seen.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization, json });
}

let environment: Record<string, string> = {};
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  writeFileSync(join(directory, "admin-token"), "from-file\n");
  const { port } = server.address() as AddressInfo;
  environment = { VANTAGE_HTTP_ADDR: `127.0.0.1:${port}`, VANTAGE_DATA_DIR: directory };
});
beforeEach(() => {
  seen = [];
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

test("a key is created with the token of the data directory and printed", async () => {
  answer = { status: 201, body: { data: { id: 7, account_id: 3, key: "vtg_x", plan: "pro" } } };
  const ran = await runVantage(
    ["keys", "create", "--plan", "pro", "--name", "ci", "--scopes", "check, dns"],
    environment,
  );
  expect(seen).toEqual([
    {
      line: "POST /api/admin/keys",
      authorization: "Bearer from-file",
      json: { plan: "pro", name: "ci", scopes: ["check", "dns"] },
    },
  ]);
  expect(ran).toEqual({ said: "vtg_x\n(key 7, plan pro; not shown again)", complained: "", status: 0 });
});

test("lists are tables, or JSON on request, and cannot control a terminal", async () => {
  answer = { status: 200, body: { data: [{ id: 1, email: "a@b.example\u001b[2J", plan: "free" }] } };
  const ran = await runVantage(["accounts", "list"], { ...environment, VANTAGE_ADMIN_TOKEN: "from-environment" });
  expect(seen[0]?.authorization).toBe("Bearer from-environment");
  expect(ran.said).toBe("ID  EMAIL            PLAN  CREATED_AT\n1   a@b.example [2J  free  -");
  const json = await runVantage(["accounts", "list", "--json"], environment);
  expect(JSON.parse(json.said)).toEqual([{ id: 1, email: "a@b.example\u001b[2J", plan: "free" }]);
});

test("a key is deleted by its id, and an account needs an address", async () => {
  answer = { status: 200, body: { data: { id: 7, deleted: true } } };
  expect((await runVantage(["keys", "delete", "7&x"], environment)).said).toBe("Deleted.");
  expect(seen[0]?.line).toBe("DELETE /api/admin/keys?id=7%26x");
  const ran = await runVantage(["accounts", "create"], environment);
  expect(ran.complained).toContain("--email");
  expect(ran.status).toBe(2);
});

test("flags override the environment", async () => {
  answer = { status: 200, body: { data: [] } };
  await runVantage(["keys", "list", "--admin-token", "from-flag"], { ...environment, VANTAGE_ADMIN_TOKEN: "other" });
  expect(seen[0]?.authorization).toBe("Bearer from-flag");
});

test("a refusal of the service is one line with the field once and the allowed values", async () => {
  const message = "plan: must be one of free, pro.";
  answer = { status: 400, body: { error: { code: "missing_parameter", message, field: "plan", reason: "enum" } } };
  const ran = await runVantage(["keys", "create", "--plan", "gold"], environment);
  expect(ran.complained).toBe(`vantage: http://${environment["VANTAGE_HTTP_ADDR"]} answered 400: ${message}`);
  expect(ran.status).toBe(2);
  answer = { status: 401, body: {} };
  expect((await runVantage(["keys", "list"], environment)).complained).toContain("rejects this operator token");
});

test("no control plane, no token and an invalid setting are one line each", async () => {
  const away = await runVantage(["keys", "list"], { ...environment, VANTAGE_HTTP_ADDR: "127.0.0.1:1" });
  expect(away.complained).toMatch(/^vantage: no control plane answers at http:\/\/127.0.0.1:1 \(ECONNREFUSED\)/);
  const without = await runVantage(["keys", "list"], { VANTAGE_DATA_DIR: "/nowhere" });
  expect(without.complained).toMatch(/^vantage: no operator token: set VANTAGE_ADMIN_TOKEN/);
  const bad = await runVantage(["keys", "list", "--http-addr", "x"], environment);
  expect(bad.complained).toMatch(/^vantage: VANTAGE_HTTP_ADDR must be /);
  expect([away.status, without.status, bad.status]).toEqual([5, 3, 2]);
});

test("an audit secret is shown with its name, in a form that verify-audit reads", async () => {
  answer = { status: 200, body: { data: { kid: "0123abcd", secret: "vas_x" } } };
  const ran = await runVantage(["accounts", "audit-secret", "7"], environment);
  expect(seen[0]).toMatchObject({ line: "POST /api/admin/audit-secret", json: { account_id: 7 } });
  expect(ran.said).toBe("vas_x\n(audit secret 0123abcd; not shown again)");
  await runVantage(["accounts", "audit-secret", "mine"], environment);
  expect(seen[1]?.json).toEqual({ account_id: "mine" });
});

test("a sign-in link is printed for an account, or for the oldest one", async () => {
  const url = "http://localhost:8080/start/abc";
  answer = { status: 201, body: { data: { account_id: 3, url, expires_at: "2026-11-27T20:15:00.000Z" } } };
  const ran = await runVantage(["sign-in-link", "--account-id", "3"], environment);
  expect(ran).toEqual({ said: `${url}\n(account 3; works once, for 15 minutes)`, complained: "", status: 0 });
  await runVantage(["sign-in-link"], environment);
  expect(seen.map(({ line, json }) => [line, json])).toEqual([
    ["POST /api/admin/sign-in-links", { account_id: 3 }],
    ["POST /api/admin/sign-in-links", {}],
  ]);
});
