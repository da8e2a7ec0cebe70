import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { startListen } from "#test/shared/client/listening.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { issueTrusted } from "#test/support/trusted-identity.ts";
import { createWebhook, failHeartbeat, webhookSettings } from "#test/support/webhooks.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const directory = mkdtempSync(join(tmpdir(), "vantage-listen-"));
const at = (name: string) => join(directory, name);

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({
    config: { allow: { targets: ["127.0.0.1/32"], names: [] }, webhooks: webhookSettings([0, 100, 200]) },
  });
  const { cert, key } = await issueTrusted();
  writeFileSync(at("cert.pem"), cert);
  writeFileSync(at("key.pem"), key);
  writeFileSync(at("secret"), SECRET);
  writeFileSync(at("other"), `${SECRET}x`);
});
afterAll(async () => {
  await plane?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const TLS = ["--tls-cert", at("cert.pem"), "--tls-key", at("key.pem")];
const listen = (secret: string, count: number) =>
  startListen(["--secret-file", at(secret), "--count", String(count), ...TLS]);

it("an outage is delivered to `listen`, which verifies and prints it", async () => {
  const { url, ended } = await listen("secret", 1);
  expect(url).toMatch(/^https:/);
  const key = await plane.createKey();
  await createWebhook(plane, key, { url: `${url}/hook`, secret: SECRET });
  const monitorId = await failHeartbeat(plane, key);

  const { said, status } = await ended;
  expect(status).toBe(0);
  expect(said).toContain("Webhooks need HTTPS with a certificate that the control plane trusts.");
  expect(said).toMatch(/^\S+Z verified monitor\.down, delivery \d+, attempt 1, event evt_[\w-]+$/m);
  expect(said).toMatch(new RegExp(`^ +"id": ${monitorId},$`, "m"));
});

it("with another secret it refuses each attempt", async () => {
  const { url, ended } = await listen("other", 2);
  const key = await plane.createKey();
  await createWebhook(plane, key, { url: `${url}/hook`, secret: SECRET });
  await failHeartbeat(plane, key);

  const { said } = await ended;
  expect(said).not.toContain("Z verified ");
  for (const attempt of [1, 2])
    expect(said).toMatch(new RegExp(`NOT verified: x-service-signature-v2 does not .*, attempt ${attempt}, `));
});

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends it with status 0, also during a request", async (signal) => {
  const words = ["listen", "--port", "0", "--secret-file", at("secret")];
  const child = spawn(LAUNCHER_PATH, words, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  await expect.poll(() => output).toContain("Webhooks need HTTPS");
  const unfinished = connect(Number(/:(\d+) for/.exec(output)?.[1]), "127.0.0.1");
  unfinished.on("error", () => {}).write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n");
  await once(unfinished, "connect");
  child.kill(signal);
  expect(await once(child, "close")).toEqual([0, null]);
  unfinished.destroy();
});
