import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseCtLogs } from "#probe-agent/data/ct-logs.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { createLog, issueLogged, logList, serverInfo, timestampList, timestampOf } from "#test/servers/ct.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { ocspResponse, timestampsExtension } from "#test/servers/ocsp.ts";
import { HAS_OPENSSL, startOpensslServer } from "#test/servers/openssl.ts";
import { daysFromNow } from "#test/servers/pki.ts";
import { TLS_HOST } from "#test/servers/tls-variants.ts";
import { startStatusLab, type SslResult } from "#test/support/ssl-status.ts";
import { resultOf } from "#test/support/tool.ts";

if (!HAS_OPENSSL) console.log("skipped: timestamps by the TLS extension: no openssl on this machine");

const AT = new Date(Math.floor(daysFromNow(-1).getTime() / 1000) * 1000);
const folder = mkdtempSync(join(tmpdir(), "timestamps-"));
const lab = await startStatusLab();
const dns = await startDnsServer({ zones: { [TLS_HOST]: { A: ["127.0.0.1"] } } });
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([lab.close(), dns.close()]);
});
const log = createLog();
const ctLogs = parseCtLogs(logList("Operator", [["Log", log]]));
const issuer = lab.pki.intermediate;

function rows({ ct }: SslResult): unknown[] {
  return ct.scts.map(({ source, log_name, timestamp, signature_valid }) => [
    source,
    log_name,
    timestamp,
    signature_valid,
  ]);
}

describe("signed certificate timestamps", () => {
  it("in the certificate and in the staple are named and verified by the operator's list", async () => {
    const leaf = await issueLogged(lab.pki, [log], { dns: [TLS_HOST] }, AT);
    const list = timestampList([timestampOf(log, { kind: "certificate", der: leaf.der }, AT)]);
    const single = { certificate: leaf, issuer, extensions: [timestampsExtension(list)] };
    const result = await lab.check(leaf, {
      staple: ocspResponse({ signer: issuer, singles: [single] }),
      data: { ctLogs },
    });
    expect(rows(result)).toEqual([
      ["certificate", "Log", AT.toISOString(), true],
      ["ocsp", "Log", AT.toISOString(), true],
    ]);
    expect(result.certificate.scts).toEqual(result.ct.scts);
    expect(result.ct).toMatchObject({ count: 2, logs: 1, operators: ["Operator"] });
    expect(result.findings).toEqual([]);
  });

  it("without a list are shown only by id, and a limitation says so", async () => {
    const leaf = await issueLogged(lab.pki, [log], { dns: [TLS_HOST] }, AT);
    const result = await lab.check(leaf);
    expect(rows(result)).toEqual([["certificate", null, AT.toISOString(), null]]);
    expect(result.ct.scts[0]?.log_id).toBe(log.id);
    expect(result.limitations.join(" ")).toMatch(/no list of logs is configured/);
  });

  it("that are invalid cause a warning", async () => {
    const forger = { ...log, privateKey: createLog().privateKey };
    const leaf = await issueLogged(lab.pki, [forger], { dns: [TLS_HOST] }, AT);
    const result = await lab.check(leaf, { data: { ctLogs } });
    expect(rows(result)).toEqual([["certificate", "Log", AT.toISOString(), false]]);
    expect(result.findings).toMatchObject([{ id: "bad-sct", severity: "warning" }]);
  });
});

describe.skipIf(!HAS_OPENSSL)("timestamps by the TLS extension (RFC 6962 section 3.3.1)", () => {
  it.each([
    ["TLS 1.3 with X25519", ["-tls1_3", "-groups", "X25519"]],
    ["TLS 1.3 with P-256", ["-tls1_3", "-groups", "P-256"]],
    ["TLS 1.3 with ChaCha20", ["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"]],
    ["TLS 1.3 with AES-128", ["-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"]],
    ["TLS 1.2", ["-tls1_2"]],
  ])("are seen over %s, though Node never asks for them", async (_what, options) => {
    const leaf = await lab.pki.issue({ dns: [TLS_HOST] });
    const list = timestampList([timestampOf(log, { kind: "certificate", der: leaf.der }, AT)]);
    const info = join(folder, "info.pem");
    writeFileSync(info, serverInfo(list));
    const chain = join(folder, "chain.pem");
    writeFileSync(chain, issuer.pem);
    const server = await startOpensslServer([leaf], [...options, "-serverinfo", info, "-cert_chain", chain]);
    try {
      const setting = { dnsServers: [dns.address], roots: [lab.pki.root.pem], data: { ctLogs } };
      const result = await resultOf(ssl, { host: TLS_HOST, port: server.port }, setting);
      expect(rows(result)).toEqual([["tls", "Log", AT.toISOString(), true]]);
    } finally {
      await server.close();
    }
  });

  it("are unknown if the server requires a key share that we do not support", async () => {
    const leaf = await lab.pki.issue({ dns: [TLS_HOST] });
    const server = await startOpensslServer([leaf], ["-tls1_3", "-groups", "P-384"]);
    try {
      const setting = { dnsServers: [dns.address], roots: [lab.pki.root.pem] };
      const result = await resultOf(ssl, { host: TLS_HOST, port: server.port }, setting);
      expect(result.ct.count).toBe(0);
      expect(result.limitations.join(" ")).toMatch(/in a TLS extension could not be determined/);
    } finally {
      await server.close();
    }
  });
});
