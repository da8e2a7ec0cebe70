import { expect, it } from "vitest";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { createPki } from "#test/servers/pki.ts";
import { startSmtpServer } from "#test/servers/smtp.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const pki = await createPki();
const names = await stopAfterAll(
  startDnsServer({
    zones: { "example.test": { MX: ["10 mx.example.test."] }, "mx.example.test": { A: ["127.0.0.1"] } },
  }),
);
const mail = await stopAfterAll(
  startSmtpServer({ chain: [await pki.issue({ dns: ["mx.example.test"] }), pki.intermediate] }),
);
const plane = await stopAfterAll(startControlPlane());
useAgent(plane, "eu-west", { VANTAGE_DNS_SERVERS: names.address });
const key = await plane.createKey();

function explain(headers: string) {
  return plane.call("/api/v4/email-header", { key, method: "POST", body: { headers } });
}

it("headers of 256 KB are sent to an agent and back, whatever their length as JSON", async () => {
  for (const filler of ["x", '"', "\u0001"]) {
    const start = "Subject: all of it\r\nX-Filler: ";
    const { status, body } = await explain(start + filler.repeat(MAX_HEADERS_BYTES - start.length));
    // The limit of the body, 1 MB, is reached first if every character is escaped.
    const isTooLong = filler === "\u0001";
    expect(status).toBe(isTooLong ? 413 : 200);
    if (!isTooLong) expect(body.data).toMatchObject({ subject: "all of it", header_count: 2 });
  }
  expect((await explain("Subject: still there")).body.data).toMatchObject({ subject: "still there" });
});

it("longer headers are refused by name, and much longer ones before they are read", async () => {
  const over = await explain("x".repeat(MAX_HEADERS_BYTES + 1));
  expect([over.status, over.body.error]).toMatchObject([
    400,
    { code: "missing_parameter", field: "headers", reason: "range" },
  ]);
  const octets = await explain("é".repeat(MAX_HEADERS_BYTES / 2 + 1));
  expect([octets.status, octets.body.error]).toMatchObject([400, { field: "headers", reason: "range" }]);
  expect((await explain("x".repeat(5 * 1024 * 1024))).status).toBe(413);
});

it("a mail server is tested by its domain", async () => {
  const { status, body } = await plane.call(`/api/v4/smtp-test?target=example.test&port=${mail.port}`, { key });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    mx_used: "mx.example.test",
    banner: { code: 220 },
    starttls: { offered: true, success: true, tls: { error: "untrusted_root" } },
  });
});
