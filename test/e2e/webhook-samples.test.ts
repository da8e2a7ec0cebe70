import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { deliveryHeaders } from "#test/support/signed-delivery.ts";

// The samples of the documentation, each with requests that the real functions sign.

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY = '{"id":"evt_1","type":"monitor.down","data":{"name":"Größe €\u{1f600}"}}';
const SHELL = { name: "verify.sh", needs: ["openssl", "awk", "od"] };
const RECEIVERS = [
  { name: "receive.mjs", needs: [], command: process.execPath },
  { name: "receive.py", needs: ["python3"], command: "python3" },
];

const isInstalled = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const missing = new Map(
  [SHELL, ...RECEIVERS].map(({ name, needs }) => [name, needs.filter((program) => !isInstalled(program))]),
);
for (const [name, programs] of missing) {
  if (programs.length > 0)
    console.log(`skipped: deploy/samples/webhooks/${name}: ${programs.join(", ")} is not installed`);
}
const isMissing = (name: string) => (missing.get(name) ?? []).length > 0;

const folder = mkdtempSync(join(tmpdir(), "vantage-samples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const sample = (name: string) => join(ROOT, "deploy/samples/webhooks", name);

/** Writes a file into the folder of this test; its path. */
function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const own = (over: object = {}) => deliveryHeaders({ secrets: [SECRET], body: BODY, ...over });
const ago = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds;

/** What every sample accepts, by the secret in its file. */
const VALID: readonly (readonly [what: string, secret: string, headers: () => Record<string, string>])[] = [
  ["its secret", SECRET, () => own()],
  ["its secret 290 s ago", SECRET, () => own({ timestamp: ago(290) })],
  ["the secret after a rotation", OTHER, () => own({ secrets: [OTHER, SECRET] })],
  ["the secret before a rotation", SECRET, () => own({ secrets: [OTHER, SECRET] })],
  ["a secret without the prefix", "s3cret of mine!", () => own({ secrets: ["s3cret of mine!"] })],
];

/** What every sample refuses. */
const REFUSED: readonly (readonly [what: string, headers: () => Record<string, string>, body?: string])[] = [
  ["a changed body", () => own(), BODY.replace("down", "up")],
  ["another secret", () => own({ secrets: [OTHER] })],
  ["another id", () => ({ ...own(), "webhook-id": "evt_2" })],
  ["a time that was not signed", () => ({ ...own(), "webhook-timestamp": String(ago(60)) })],
  ["an old timestamp", () => own({ timestamp: ago(310) })],
  ["a timestamp in the future", () => own({ timestamp: ago(-310) })],
  ["no timestamp", () => ({ ...own(), "webhook-timestamp": "" })],
  ["a timestamp that is no number", () => ({ ...own(), "webhook-timestamp": "1e9" })],
  ["a truncated signature", () => ({ ...own(), "webhook-signature": own()["webhook-signature"]?.slice(0, -5) ?? "" })],
  ["an empty signature", () => ({ ...own(), "webhook-signature": "v1," })],
];

/** Runs a receiver while `use` runs; what it has printed after its first line. */
async function whileReceiving(
  { name, command }: (typeof RECEIVERS)[number],
  secret: string,
  use: (url: string) => Promise<void>,
): Promise<string> {
  const file = write(`${name}.secret`, `${secret}\n(not shown again)\n`);
  const child = spawn(command, [sample(name), file, "0"], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    await expect.poll(() => output).toMatch(/^listening on port \d+\n/);
    await use(`http://127.0.0.1:${/\d+/.exec(output)?.[0]}/hook`);
  } finally {
    child.kill();
    await ended;
  }
  return output;
}

async function send(url: string, headers: Record<string, string>, body = BODY): Promise<number> {
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

for (const receiver of RECEIVERS) {
  describe.skipIf(isMissing(receiver.name))(`the sample ${receiver.name}`, () => {
    it.each(VALID)("answers a delivery of %s with 204", async (_what, secret, headers) => {
      const output = await whileReceiving(receiver, secret, async (url) =>
        expect(await send(url, headers())).toBe(204),
      );
      expect(output).toContain("received monitor.down");
    });

    it("refuses what is not signed, and accepts what is signed after that", async () => {
      const output = await whileReceiving(receiver, SECRET, async (url) => {
        for (const [what, headers, body] of REFUSED)
          expect([what, await send(url, headers(), body)]).toEqual([what, 401]);
        const long = "x".repeat(1_048_577);
        expect(await send(url, own({ body: long }), long).catch(() => 413)).toBe(413);
        expect(await send(url, own())).toBe(204);
      });
      expect(output.match(/received/g)).toHaveLength(1);
    });

    it("handles an event once, however often it arrives, and again what it could not handle", async () => {
      const broken = "not JSON";
      const output = await whileReceiving(receiver, SECRET, async (url) => {
        const status = await send(url, own({ body: broken }), broken).catch(() => "no answer");
        expect([500, "no answer"]).toContain(status);
        for (const id of ["evt_1", "evt_1", "evt_2", "evt_1"]) expect(await send(url, own({ id }))).toBe(204);
      });
      expect(output.match(/received/g)).toHaveLength(2);
    });
  });
}

describe.skipIf(isMissing(SHELL.name))(`the sample ${SHELL.name}`, () => {
  /** Verifies a request that was saved with CRLF, as it arrives, and names in mixed case. */
  function verify(secret: string, headers: Record<string, string>, body = BODY) {
    const lines = Object.entries(headers).map(([name, value]) => `${name.replace("webhook", "Webhook")}: ${value}\r\n`);
    const files = [write("headers", lines.join("")), write("body", body), write("secret", `${secret}\n(not shown)\n`)];
    const { status, stdout, stderr } = spawnSync("sh", [sample(SHELL.name), ...files], { encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  }

  it.each(VALID)("verifies a delivery of %s", (_what, secret, headers) => {
    expect(verify(secret, headers())).toEqual({ status: 0, output: expect.stringMatching(/^Verified: .*evt_1 was/) });
  });

  it.each(REFUSED.map(([what, headers, body]) => ({ what, headers, body })))("refuses $what", ({ headers, body }) => {
    expect(verify(SECRET, headers(), body)).toEqual({ status: 1, output: expect.stringMatching(/^NOT verified: /) });
  });
});

it("the samples need nothing of the clone", () => {
  const text = [SHELL, ...RECEIVERS].map(({ name }) => readFileSync(sample(name), "utf8")).join("");
  expect(text.length).toBeGreaterThan(3_000);
  expect(text).not.toMatch(/#shared|node_modules|vantage\.ts/);
});
