import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { probeDns } from "#probe-agent/exporter/probe-dns.ts";
import type { TlsOptions } from "#shared/blackbox/module.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startDotFront, type EncryptedFront } from "#test/servers/dns-encrypted.ts";
import { createPki } from "#test/servers/pki.ts";
import { dnsOptions, proberContext, recordProbe } from "#test/probe-agent/exporter/recorded-probe.ts";

describe("a DNS probe over TLS", () => {
  let server: DnsServer;
  let front: EncryptedFront;
  let root: string;
  beforeAll(async () => {
    const pki = await createPki();
    root = pki.root.pem;
    server = await startDnsServer({ zones: { "www.example.test": { A: ["192.0.2.1"] } } });
    const certificate = await pki.issue({ dns: ["localhost", "dns.example.test"] });
    front = await startDotFront(server.port, { certificate, chain: [pki.intermediate] });
  });
  afterAll(async () => {
    await front?.close();
    await server?.close();
  });

  async function run(host: string, changes: Partial<TlsOptions>) {
    const probe = recordProbe(`${host}:${front.port}`);
    const tls = { ...dnsOptions().tls_config, ca: { text: root }, ...changes };
    const options = dnsOptions({ transport_protocol: "tcp", dns_over_tls: true, tls_config: tls });
    const verdict = await probeDns(probe, options, proberContext());
    return { verdict, metrics: probe.metrics() };
  }

  it("verifies the name of the target and counts the handshake as part of the connection", async () => {
    const { verdict, metrics } = await run("localhost", {});
    expect([verdict, front.seen.names.at(-1)]).toEqual(["success", "localhost"]);
    expect(metrics).toMatchObject({ probe_dns_query_succeeded: 1, probe_dns_answer_rrs: 1 });
    expect(metrics['probe_dns_duration_seconds{phase="connect"}']).toBeGreaterThan(0);
    expect(metrics['probe_dns_duration_seconds{phase="request"}']).toBeGreaterThan(0);
    expect(Object.keys(metrics).filter((name) => /ssl|tls/.test(name))).toEqual([]);
  });

  it("verifies the name that its module gives in place of the target's", async () => {
    expect((await run("127.0.0.1", { server_name: "dns.example.test" })).verdict).toBe("success");
    expect(front.seen.names.at(-1)).toBe("dns.example.test");
    for (const wrong of [{ server_name: "other.test" }, { ca: null }]) {
      const { verdict, metrics } = await run("localhost", wrong);
      expect([verdict, metrics["probe_dns_query_succeeded"]]).toEqual(["failure", 0]);
      expect(metrics['probe_dns_duration_seconds{phase="request"}']).toBe(0);
    }
    expect((await run("localhost", { ca: null, insecure_skip_verify: true })).verdict).toBe("success");
  });
});
