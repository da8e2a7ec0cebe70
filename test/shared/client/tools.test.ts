import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

let seen: { line: string; key: unknown; json: unknown }[] = [];
let answer: { status: number; body: unknown } = { status: 200, body: {} };
/** Events before the answer, for a caller that asks for a stream. */
let events: readonly (readonly [event: string, data: unknown])[] | null = null;
const directory = mkdtempSync(join(tmpdir(), "vantage-cli-"));
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk: Buffer) => (text += String(chunk)));
  request.on("end", () => {
    seen.push({ line: `${request.method} ${request.url}`, key: request.headers["x-api-key"], json: JSON.parse(text) });
    if (events === null) return response.writeHead(answer.status).end(JSON.stringify(answer.body));
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const [event, data] of events) response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    return response.end();
  });
});
let environment: Record<string, string> = {};

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  environment = { VANTAGE_HTTP_ADDR: `127.0.0.1:${(server.address() as AddressInfo).port}`, VTG_API_KEY: "vtg_k" };
});
beforeEach(() => {
  seen = [];
  events = null;
  answer = { status: 200, body: { data: { host: "a.example", rtt: { min_ms: 1.5 }, title: "x\u001b[2J" } } };
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

test("every tool is a command, with its target as the argument and its parameters as flags", async () => {
  const ran = await runVantage(
    ["ping", "a.example", "--count", "2", "--ip-version", "4", "--from", "eu,us"],
    environment,
  );
  expect(ran).toMatchObject({ status: 0, complained: "" });
  expect(JSON.parse(ran.said)).toMatchObject({ host: "a.example" });
  expect(seen).toEqual([
    {
      line: "POST /api/v4/ping",
      key: "vtg_k",
      json: { host: "a.example", count: "2", ip_version: "4", locations: "eu,us" },
    },
  ]);
  const help = await runVantage(["--help"], environment);
  for (const { name } of CONTRACTS) expect(help.said).toContain(`  ${name} `);
});

test("nothing that a target or a service answers controls the terminal or reorders its text", async () => {
  const evil = "x\u009b2J\u202ey\u2066\u200e\u{e0041}";
  answer = { status: 200, body: { data: { title: evil, [evil]: [evil] }, meta: { location: { region: evil } } } };
  for (const format of ["--text", "--latency"]) {
    const { said } = await runVantage(["whois", "a.example", format], environment);
    expect(said).toMatch(/^[ -~\n]+$/);
  }
  const csv = await runVantage(["whois", "a.example", "--csv"], environment);
  expect(csv.said).toMatch(/^[ -~\r\n]+$/);
  expect(csv.said).toContain(String.raw`title,x\u009b2J\u202ey`);
  const json = await runVantage(["check", "https://a.example"], environment);
  expect(await runVantage(["headers", "https://a.example"], environment)).toEqual(json);
  expect(json.said).toMatch(/^[ -~\n]*$/);
  expect(JSON.parse(json.said)).toEqual({ title: evil, [evil]: [evil] });
  answer = { status: 400, body: { error: { code: "missing_parameter", message: evil } } };
  const refused = await runVantage(["check", "https://a.example"], environment);
  expect(refused.complained).toContain(String.raw`x\u009b2J\u202ey`);
});

test("a line of a target that arrives while the check runs cannot look like two", async () => {
  const location = { region: "eu\nGOOD", city: null };
  const data = { from: "server", text: "220 hello\n\u001b[2JGOOD  fine\tx" };
  events = [
    ["progress", { location, attempt: 1, kind: "line", data }],
    ["done", { data: { target: "a.example" }, meta: {} }],
  ];
  const { said, status } = await runVantage(["smtp-test", "a.example", "--text"], environment);
  expect([status, said.split("\n").slice(0, 2)]).toEqual([0, ["From eu GOOD:", "< 220 hello [2JGOOD fine x"]]);
});

test("a stream that ends without an answer, or with an error, is judged as an answer is", async () => {
  events = [["progress", { kind: "line", data: {} }]];
  const cut = await runVantage(["smtp-test", "a.example", "--text"], environment);
  expect(cut).toMatchObject({ status: 5, complained: expect.stringContaining("the stream ended before the answer") });
  for (const [error, status] of [
    [{ code: "request_failed", source: "target", message: "no answer" }, 1],
    [{ code: "request_failed", source: "probe", message: "overloaded" }, 4],
    [{ code: "rate_limit_exceeded", message: "wait" }, 3],
    [{ code: "internal_error", message: "ours" }, 5],
  ] as const) {
    events = [["done", { error }]];
    const ran = await runVantage(["smtp-test", "a.example", "--text"], environment);
    expect([ran.status, ran.said]).toEqual([status, status === 1 ? "BAD  no answer" : ""]);
    if (status !== 1) expect(ran.complained).toContain(error.message);
  }
});

test("a location whose probe fails counts only if no location has a result", async () => {
  const at = (region: string) => ({ region, city: null, country: null });
  const lost = (region: string) => ({
    location: at(region),
    status: "failed",
    error: { code: "probe_unavailable", message: "No probe is online." },
  });
  const good = { location: at("us"), status: "ok", data: { host: "a.example" } };
  answer = { status: 200, body: { data: { locations: [lost("eu"), lost("us")], summary: {} } } };
  const none = await runVantage(["whois", "a.example", "--from", "all"], environment);
  expect(none).toMatchObject({ status: 4, said: "" });
  expect(none.complained).toBe("vantage whois: none of 2 locations has a result. eu: No probe is online.");
  answer = { status: 200, body: { data: { locations: [lost("eu"), good], summary: {} } } };
  const some = await runVantage(["whois", "a.example", "--from", "all", "--latency"], environment);
  expect(some).toEqual({ status: 0, complained: "", said: "eu  No probe is online.\nus  no timings" });
});

test("--json prints the answer verbatim", async () => {
  const ran = await runVantage(["check", "https://a.example", "--json"], environment);
  expect(JSON.parse(ran.said)).toMatchObject({ host: "a.example" });
});

test("a long argument can come from a file", async () => {
  writeFileSync(join(directory, "name.txt"), "b.example");
  await runVantage(["ping", `@${join(directory, "name.txt")}`], environment);
  expect(seen[0]?.json).toEqual({ host: "b.example" });
  const gone = await runVantage(["ping", "@/nonexistent/file"], environment);
  expect(gone).toMatchObject({ status: 2, complained: "vantage ping: /nonexistent/file cannot be read" });
});

test("failures are one line on standard error", async () => {
  answer = {
    status: 400,
    body: { error: { code: "missing_parameter", field: "count", message: "count: must be between 1 and 10." } },
  };
  const refused = await runVantage(["ping", "a.example"], environment);
  expect(refused).toMatchObject({
    status: 2,
    said: "",
    complained: "vantage ping: --count: must be between 1 and 10.",
  });
  const keyless = await runVantage(["ping", "a.example"], { ...environment, VTG_API_KEY: "" });
  expect(keyless.complained).toBe("vantage ping: no API key: run deploy/vantage login, set VTG_API_KEY, or pass --key");
  answer = { status: 501, body: null };
  const other = await runVantage(["ping", "a.example"], environment);
  expect(other).toMatchObject({ status: 5, complained: expect.stringContaining("check VANTAGE_BASE_URL") });
  const nobody = await runVantage(["ping", "a.example"], { ...environment, VANTAGE_HTTP_ADDR: "127.0.0.1:1" });
  expect(nobody.complained).toContain("no control plane answers");
});
