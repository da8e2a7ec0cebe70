import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { readIdentity, writeIdentity } from "#probe-agent/membership/membership.ts";
import { renewalDueAt, type Identity } from "#probe-agent/membership/identity.ts";
import { issue, type Issued } from "#test/servers/pki.ts";
import { systemRandom } from "#test/support/clock.ts";

let authority: Issued;
let first: Identity;
let second: Identity;
let folder: string;

async function makeIdentity(agentId: string): Promise<Identity> {
  const certificate = await issue({ subject: `CN=${agentId}`, issuer: authority });
  return {
    agentId,
    key: certificate.keyPem,
    certificate: certificate.pem,
    ca: authority.pem,
    receivedAtMs: 1_000,
    tokenDigest: "ab",
  };
}

beforeAll(async () => {
  authority = await issue({ ca: true, subject: "CN=authority" });
  first = await makeIdentity("eu-west-000000000001");
  second = await makeIdentity("eu-west-000000000002");
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-identity-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("is missing before the first write, then the newest, without traces of earlier ones", () => {
  expect(readIdentity(folder)).toEqual({ kind: "none" });
  writeIdentity(folder, first, systemRandom);
  writeIdentity(folder, second, systemRandom);
  expect(readIdentity(folder)).toEqual({ kind: "kept", identity: second });
  expect(readdirSync(folder)).toHaveLength(2);
});

it("is readable only by its owner", () => {
  writeIdentity(folder, first, systemRandom);
  const kept = join(folder, "identity");
  expect(statSync(kept).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(kept)) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
});

it("is the previous one after a crash during a write", () => {
  writeIdentity(folder, first, systemRandom);
  const half = join(folder, "identity.00112233445566ff");
  mkdirSync(half);
  writeFileSync(join(half, "key.pem"), second.key);
  expect(readIdentity(folder)).toEqual({ kind: "kept", identity: first });
  writeIdentity(folder, second, systemRandom);
  expect(readIdentity(folder)).toEqual({ kind: "kept", identity: second });
  expect(readdirSync(folder)).toHaveLength(2);
});

it.each([
  ["key.pem", () => second.key, "the certificate does not match the key"],
  ["certificate.pem", () => "", "the key or a certificate is not valid PEM"],
  ["ca.pem", () => second.certificate, "the certificate was not issued by the authority"],
  ["agent-id", () => "?", "the agent id is malformed"],
  ["received-at", () => "", "the time of receipt is missing"],
])("is broken, with a description, if %s does not match", (file, text, fault) => {
  writeIdentity(folder, first, systemRandom);
  writeFileSync(join(folder, "identity", file), text());
  expect(readIdentity(folder)).toEqual({ kind: "broken", fault });
});

it("is broken if a file is missing", () => {
  writeIdentity(folder, first, systemRandom);
  rmSync(join(folder, "identity", "ca.pem"));
  expect(readIdentity(folder)).toEqual({ kind: "broken", fault: "a file is missing" });
});

it("is renewed after two thirds of the validity that remained on receipt", async () => {
  const dates = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2026-02-01T00:00:00Z") };
  const certificate = (await issue({ issuer: authority, ...dates })).pem;
  const receivedAtMs = Date.parse("2026-01-02T00:00:00Z");
  expect(new Date(renewalDueAt({ ...first, certificate, receivedAtMs })).toISOString()).toBe(
    "2026-01-22T00:00:00.000Z",
  );
});
