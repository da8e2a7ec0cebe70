import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runVantage } from "#test/shared/client/command-line.ts";
import { startListen } from "#test/shared/client/listening.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { deliveryHeaders } from "#test/support/signed-delivery.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"id":"evt_1","data":{"name":"Größe"}}';
const directory = mkdtempSync(join(tmpdir(), "vantage-listen-"));
const at = (name: string) => join(directory, name);
const SECRET_FILE = ["--secret-file", at("secret")];

beforeAll(() => {
  writeFileSync(at("secret"), `${SECRET}\r\n(from the answer of POST webhooks)\n`);
  writeFileSync(at("empty"), "\n");
  writeFileSync(at("cert.pem"), "no certificate");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Sends a delivery; the status and the text of the answer. */
async function send(url: string, headers: Record<string, string>, body = BODY): Promise<readonly [number, string]> {
  const response = await fetch(`${url}/hook`, { method: "POST", headers, body });
  return [response.status, await response.text()];
}

const own = (over: object = {}) => deliveryHeaders({ secrets: [SECRET], body: BODY, ...over });

it("a delivery that the secret signed is printed with its body and answered with 204, a repetition too", async () => {
  const { url, ended } = await startListen([...SECRET_FILE, "--count", "2"]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await send(url, own())).toEqual([204, ""]);
  expect(await send(url, { ...own(), "x-service-attempt": "2" })).toEqual([204, ""]);
  const { said, complained, status } = await ended;
  expect([complained, status]).toEqual(["", 0]);
  const [listening, hint, ...lines] = said.split("\n");
  expect([listening, hint]).toEqual([
    `Listening on ${url} for deliveries. Ctrl-C stops it.`,
    "Webhooks need HTTPS: put a tunnel with HTTPS in front, or give --tls-cert and --tls-key.",
  ]);
  const body = JSON.stringify(JSON.parse(BODY), null, 2)
    .split("\n")
    .map((line) => `  ${line}`);
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\S+Z verified monitor\.down, delivery 12, attempt 1, event evt_1$/),
    ...body,
    expect.stringMatching(/^\d{4}-\S+Z verified monitor\.down, delivery 12, attempt 2, event evt_1 \(repeated\)$/),
    ...body,
  ]);
});

it("--status chooses the answer to a verified delivery", async () => {
  const { url, ended } = await startListen([...SECRET_FILE, "--count", "1", "--status", "503"]);
  expect((await send(url, own()))[0]).toBe(503);
  expect((await ended).status).toBe(0);
});

it("a delivery that is not valid is answered with 401 and the reason, and does not mark its event as seen", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const { "webhook-signature": _, ...unsigned } = own();
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [own({ body: `${BODY} ` }), "x-service-signature-v2 does not match this body and the secret"],
    [{ ...own(), "webhook-id": "evt_2" }, "webhook-signature does not match this body and the secret"],
    [own({ secrets: ["another-secret"] }), "x-service-signature-v2 does not match this body and the secret"],
    [unsigned, "the header webhook-signature is missing"],
    [{ ...own(), "x-service-timestamp": String(now - 9) }, "x-service-timestamp and webhook-timestamp are different"],
    [{ ...own(), "webhook-timestamp": "today" }, "the header webhook-timestamp has a value that no delivery has"],
  ];
  const { url, ended } = await startListen([...SECRET_FILE, "--count", String(cases.length + 3)]);
  for (const [headers, error] of cases) expect(await send(url, headers)).toEqual([401, JSON.stringify({ error })]);
  expect((await send(url, own({ timestamp: now - 400 })))[1]).toMatch(/timestamp is 40\d s old, and 300 s are allowed/);
  expect((await send(url, own({ timestamp: now + 400 })))[1]).toMatch(/timestamp is \d+ s in the future/);
  expect((await send(url, own()))[0]).toBe(204);
  const { said } = await ended;
  expect(said).toContain(` NOT verified: ${cases[0]?.[1]}; monitor.down, delivery 12, attempt 1, event evt_1\n`);
  expect(said).not.toContain("(repeated)");
});

it("nothing that arrives can control the terminal or look like a line about a delivery", async () => {
  const { url, ended } = await startListen([...SECRET_FILE, "--count", "4"]);
  const hostile = "\u001b[2J\u009b2J\u007f\u202e\u2066\u2028\u200b\r\n\u{e0041}2026-01-01T00:00:00.000Z verified";
  const json = JSON.stringify({ [hostile]: hostile });
  expect((await send(url, own({ body: json }), json))[0]).toBe(204);
  expect((await send(url, own({ body: hostile }), hostile))[0]).toBe(204);
  const headers = `content-length: 0\r\nx-service-event: \u009b2J\tx${"y".repeat(5_000)}\r\nwebhook-id: \u0085\u00ad`;
  const raw = await sendRaw(url, `POST / HTTP/1.1\r\nhost: a\r\n${headers}\r\n\r\n`);
  expect(raw).toMatch(/^HTTP\/1\.1 401 /);
  const deep = "[".repeat(50_000);
  expect((await send(url, own({ body: deep }), deep))[0]).toBe(204);
  const { said } = await ended;
  expect(said.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(said.split("\n").filter((line) => /^\d{4}-/.test(line))).toHaveLength(4);
  expect(said).toContain(String.raw`\u001b[2J\u009b2J\u007f\u202e\u2066`);
  expect(Math.max(...said.split("\n").map(({ length }) => length))).toBeLessThan(2_500);
});

it("JSON whose printed form would differ is printed as it arrived", async () => {
  const bodies = ['{"a":1,"a":2}', "[9007199254740993]", "[1,]"];
  const { url, ended } = await startListen([...SECRET_FILE, "--count", String(bodies.length)]);
  for (const body of bodies) expect((await send(url, own({ body }), body))[0]).toBe(204);
  const { said } = await ended;
  for (const body of bodies) expect(said.split("\n")).toContain(`  ${body}`);
});

it("other methods are answered with 405, bodies longer than 1 MB with 413", async () => {
  const { url, ended } = await startListen([...SECRET_FILE, "--count", "2"]);
  const got = await fetch(url);
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  const long = "x".repeat(1_048_577);
  expect((await send(url, own({ body: long }), long))[0]).toBe(413);
  const most = long.slice(1);
  expect((await send(url, own({ body: most }), most))[0]).toBe(204);
  const { said } = await ended;
  expect(said).toContain("NOT verified: its body is longer than 1048576 bytes; monitor.down");
  expect(said).toMatch(/x \.\.\. \(1048576 characters\)$/);
});

it("what it cannot start with is one line and status 2", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[...SECRET_FILE, "--port", String(port)], `127.0.0.1:${port} is in use: `],
    [[...SECRET_FILE, "--host", "192.0.2.1"], "192.0.2.1:8787 is not an address of this machine"],
    [["--secret-file", at("absent")], `${at("absent")} cannot be read (ENOENT)`],
    [["--secret-file", at("empty")], `${at("empty")} has no secret in its first line`],
    [[...SECRET_FILE, "--host", ""], "--host must be "],
    [[...SECRET_FILE, "--port", "65536"], "--port must be a number from 0 to 65535"],
    [[...SECRET_FILE, "--status", "99"], "--status must be a number from 200 to 599"],
    [[...SECRET_FILE, "--count", "0"], "--count must be a number from 1 to "],
    [[...SECRET_FILE, "--tls-cert", at("cert.pem")], "--tls-cert needs --tls-key"],
    [[...SECRET_FILE, "--tls-key", at("cert.pem")], "--tls-key needs --tls-cert"],
    [
      [...SECRET_FILE, "--tls-cert", at("cert.pem"), "--tls-key", at("cert.pem")],
      `${at("cert.pem")} and ${at("cert.pem")} are no certificate and its key (ERR_`,
    ],
  ];
  for (const [words, line] of cases) {
    const { status, said, complained } = await runVantage(["listen", ...words], {});
    expect([words, status, said, complained.split("\n").length]).toEqual([words, 2, "", 1]);
    expect(complained).toContain(`vantage: ${line}`);
  }
  server.close();
});
