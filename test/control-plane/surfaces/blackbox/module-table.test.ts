import { describe, expect, it } from "vitest";
import { hashAddress } from "#shared/internet/address-hash.ts";
import { renderSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import type { Module } from "#control-plane/surfaces/blackbox/module.ts";
import { MODULES } from "#control-plane/surfaces/blackbox/routes.ts";

const LEAF = {
  subject: "CN=localhost",
  issuer: "CN=Test CA",
  san: ["localhost", "b.test", "127.0.0.1", "::1"],
  fingerprint_sha256: "6f83",
  not_before: "2026-11-20T00:00:00.000Z",
  not_after: "2026-12-01T14:04:39.000Z",
  days_left: 9,
};
const PHASES = { dns_us: 100, connect_us: 200, tls_us: 300, ttfb_us: 400, transfer_us: 500 };
const CHECK = {
  code: 200,
  http_version: "1.1",
  ip: "127.0.0.1",
  headers: [{ name: "Last-Modified", value: "Sat, 21 Nov 2026 10:00:00 GMT" }],
  redirects: [{ timing_us: { ...PHASES, total_us: 1_500 } }],
  tls: {
    protocol: "TLSv1.3",
    authorized: true,
    error: null,
    certificate: LEAF,
    chain_not_after: LEAF.not_after,
    path_not_after: LEAF.not_after,
  },
  body: { content_length: null, decoded_bytes: 9, error: null },
  timing_us: { ...PHASES, redirect_us: 1_500, elapsed_us: 3_000 },
};

function moduleOf(name: string): Module {
  const module = MODULES.get(name);
  if (module === undefined) throw new Error(`no module ${name}`);
  return module;
}

/** Creates a failure of the target itself. */
function cause(stage: string, reason: string) {
  return { stage, source: "target", reason };
}

/** Renders series in the text format, regardless of the order of labels. */
function valuesOf(samples: readonly Sample[]): Record<string, number> {
  return Object.fromEntries(
    samples.map(({ name, labels = {}, value }) => [
      name +
        Object.values(labels)
          .map((label) => `{${label}}`)
          .join(""),
      value,
    ]),
  );
}

describe("an http module", () => {
  it("reports the same as the exporter for the same answer", () => {
    const { failure, seconds, samples } = moduleOf("http_2xx").report(CHECK);
    expect({ failure, seconds }).toEqual({ failure: null, seconds: 0.003 });
    expect(valuesOf(samples)).toEqual({
      probe_dns_lookup_time_seconds: 0.0002,
      // FNV-1a of 127.0.0.1, as in blackbox_exporter 0.23.
      probe_ip_addr_hash: 3_668_918_509,
      probe_ip_protocol: 4,
      "probe_http_duration_seconds{resolve}": 0.0002,
      "probe_http_duration_seconds{connect}": 0.0004,
      "probe_http_duration_seconds{tls}": 0.0006,
      "probe_http_duration_seconds{processing}": 0.0008,
      "probe_http_duration_seconds{transfer}": 0.001,
      probe_failed_due_to_regex: 0,
      probe_http_content_length: -1,
      probe_http_redirects: 1,
      probe_http_ssl: 1,
      probe_http_status_code: 200,
      probe_http_uncompressed_body_length: 9,
      probe_http_version: 1.1,
      probe_http_last_modified_timestamp_seconds: 1_795_255_200,
      probe_ssl_earliest_cert_expiry: 1_796_133_879,
      probe_ssl_last_chain_expiry_timestamp_seconds: 1_796_133_879,
      "probe_ssl_last_chain_info{6f83}{CN=Test CA}{CN=localhost}{localhost,b.test}": 1,
      "probe_tls_version_info{TLS 1.3}": 1,
    });
  });

  it.each([199, 301, 404, 500])("fails a %i", (code) => {
    expect(moduleOf("http_2xx").report({ ...CHECK, code }).failure).toEqual(cause("response", "http_status"));
  });

  it.each(["reset", "incomplete"])("fails if the body is truncated (%s), with the values up to then", (error) => {
    const { failure, samples } = moduleOf("http_2xx").report({ ...CHECK, body: { ...CHECK.body, error } });
    expect(failure).toEqual(cause("response", error));
    expect(valuesOf(samples)["probe_http_status_code"]).toBe(200);
  });

  it("reports nothing about a server with an invalid certificate, as the exporter's client", () => {
    const tls = { ...CHECK.tls, authorized: false, error: "expired" };
    const report = moduleOf("http_2xx").report({ ...CHECK, tls });
    expect(report).toEqual({ failure: cause("tls", "expired"), seconds: null, samples: moduleOf("http_2xx").failure });
    expect(valuesOf(report.samples)).toMatchObject({ probe_http_status_code: 0, probe_http_ssl: 0 });
  });

  it("completes a bare host with http, as the exporter does, and uses POST if its name says so", () => {
    const call = (name: string, target: string) => moduleOf(name).call(target, { queryName: null, queryType: null });
    // The exporter reports one address family: the job makes no connection to the other.
    const input = { families: false };
    expect(call("http_2xx", "example.com/x")).toEqual({
      input,
      params: { url: "http://example.com/x", method: "GET" },
    });
    expect(call("http_2xx", "2001:db8::1")).toMatchObject({ params: { url: "http://[2001:db8::1]" } });
    expect(call("http_2xx", "ftp://example.com")).toMatchObject({ params: { url: "ftp://example.com" } });
    expect(call("http_post_2xx", "https://a.test")).toEqual({
      input,
      params: { url: "https://a.test", method: "POST" },
    });
  });
});

describe("the connecting modules", () => {
  it("tcp_connect needs an open port", () => {
    const result = (state: string, reason: string | null = null) => ({
      ip: "::1",
      ports: [{ state, reason }],
      resolve_ms: 2,
      elapsed_ms: 5,
    });
    const open = moduleOf("tcp_connect").report(result("open"));
    expect(open).toMatchObject({ failure: null, seconds: 0.005 });
    expect(valuesOf(open.samples)).toMatchObject({ probe_ip_protocol: 6, probe_dns_lookup_time_seconds: 0.002 });
    for (const [state, reason, expected] of [
      ["closed", null, "refused"],
      ["filtered", "timeout", "timeout"],
      ["filtered", "admin_prohibited", "admin_prohibited"],
    ] as const) {
      const { failure } = moduleOf("tcp_connect").report(result(state, reason));
      expect(failure).toEqual(cause("connect", expected));
    }
  });

  it("tls_connect needs a valid certificate and a full handshake, and reports nothing about an invalid one", () => {
    const result = {
      ip: "127.0.0.1",
      resolve_ms: 1,
      connect_ms: 2,
      handshake_ms: 3,
      trusted: true,
      protocol: "TLSv1.2",
      certificate: LEAF,
      chain: [
        { sent: true, not_after: LEAF.not_after },
        { sent: false, not_after: "2026-11-30T00:00:00.000Z" },
      ],
    };
    const good = moduleOf("tls_connect").report(result);
    expect(good).toMatchObject({ failure: null, seconds: 0.006 });
    expect(valuesOf(good.samples)).toMatchObject({
      probe_ssl_earliest_cert_expiry: 1_796_133_879,
      probe_ssl_last_chain_expiry_timestamp_seconds: 1_795_996_800,
      "probe_tls_version_info{TLS 1.2}": 1,
    });
    const broken = { handshake_ms: null, handshake_error: { reason: "certificate_required", message: "" } };
    for (const [bad, reason] of [
      [{ ...result, trusted: false, trust_error: "hostname_mismatch" }, "hostname_mismatch"],
      [{ ...result, ...broken }, "certificate_required"],
      // A verifying client stops before the failure of the handshake itself.
      [{ ...result, ...broken, trusted: false, trust_error: "expired" }, "expired"],
    ] as const) {
      const report = moduleOf("tls_connect").report(bad);
      expect(report.failure).toEqual(cause("tls", reason));
      expect(report.samples.filter(({ name }) => /ssl|tls/.test(name))).toEqual([]);
    }
  });

  it("icmp needs an echo reply, and divides the time into the exporter's phases", () => {
    const replies = [{ seq: 1, rtt_ms: 4, ttl: 57, status: "ok" }];
    const report = moduleOf("icmp").report({
      ip: "127.0.0.1",
      replies,
      rtt: { min_ms: 4 },
      resolve_ms: 1,
      elapsed_ms: 7,
    });
    expect(report.failure).toBeNull();
    expect(valuesOf(report.samples)).toMatchObject({
      "probe_icmp_duration_seconds{resolve}": 0.001,
      "probe_icmp_duration_seconds{setup}": 0.002,
      "probe_icmp_duration_seconds{rtt}": 0.004,
      probe_icmp_reply_hop_limit: 57,
    });
    const lost = [{ seq: 1, rtt_ms: null, ttl: null, status: "timeout" }];
    const silent = { ip: "127.0.0.1", replies: lost, rtt: { min_ms: null }, resolve_ms: 1, elapsed_ms: 2_000 };
    expect(moduleOf("icmp").report(silent).failure).toEqual(cause("response", "timeout"));
  });

  it.each([
    ["example.com:443", { host: "example.com", port: "443" }],
    ["[2001:db8::1]:80", { host: "2001:db8::1", port: "80" }],
    ["example.com", null],
    ["2001:db8::1:80", null],
    ["example.com:0", null],
    ["example.com:65536", null],
    ["http://example.com:80", null],
  ])("read %s", (target, params) => {
    const call = moduleOf("tls_connect").call(target, { queryName: null, queryType: null });
    expect(call).toMatchObject(params === null ? { field: "target", reason: "type" } : { params });
  });
});

describe("a dns module", () => {
  const dnsUdp = moduleOf("dns_udp");

  it("queries the target for the given name", () => {
    expect(dnsUdp.call("127.0.0.1:5353", { queryName: "example.test", queryType: "SOA" })).toEqual({
      params: { domain: "example.test", types: "SOA" },
      input: { host: "127.0.0.1", port: 5353, transport: "udp" },
      reaches: { kind: "host", target: "127.0.0.1" },
    });
    expect(dnsUdp.call("[::1]:53", { queryName: "a.test", queryType: null })).toMatchObject({
      reaches: { target: "::1" },
    });
    expect(dnsUdp.call("ns.test", { queryName: "a.test", queryType: null })).toMatchObject({
      reaches: { target: "ns.test" },
    });
    expect(dnsUdp.call("ns.test:0", { queryName: "a.test", queryType: null })).toMatchObject({ field: "target" });
    expect(
      moduleOf("dns_doh").call("https://[::1]:8443/q?x=1", { queryName: "a.test", queryType: null }),
    ).toMatchObject({
      input: { host: "::1", port: 8443, path: "/q?x=1", transport: "doh" },
      reaches: { kind: "url", target: "https://[::1]:8443/q?x=1" },
    });
    expect(dnsUdp.call("ns.test", { queryName: null, queryType: null })).toMatchObject({ field: "query_name" });
  });

  it("counts the sections and reports a zone's serial", () => {
    const results = [
      {
        type: "SOA",
        status: "NOERROR",
        records: [{ serial: 42 }],
        rtt_ms: 3,
        connect_ms: 1,
        counts: { answer: 1, authority: 2, additional: 3 },
      },
    ];
    const report = dnsUdp.report({ results, server: { ip: "127.0.0.1", resolve_ms: 0 } });
    expect(report).toMatchObject({ failure: null, seconds: 0.003 });
    expect(valuesOf(report.samples)).toMatchObject({
      "probe_dns_duration_seconds{connect}": 0.001,
      "probe_dns_duration_seconds{request}": 0.002,
      probe_dns_answer_rrs: 1,
      probe_dns_authority_rrs: 2,
      probe_dns_additional_rrs: 3,
      probe_dns_serial: 42,
      probe_dns_query_succeeded: 1,
    });
  });
});

describe("a dns module that gets no NOERROR", () => {
  it.each([
    ["NXDOMAIN", null, "response", "nxdomain"],
    ["TIMEOUT", null, "response", "timeout"],
    ["TIMEOUT", "refused", "connect", "refused"],
    ["TIMEOUT", "closed", "response", "closed"],
    ["TIMEOUT", "certificate", "tls", "certificate"],
    ["TIMEOUT", "err_ssl_wrong_version_number", "tls", "wrong_version_number"],
  ])("%s, unreachable %s: stage %s, reason %s", (status, unreachable, stage, reason) => {
    const results = [{ type: "A", status, unreachable, records: [], rtt_ms: null, connect_ms: null }];
    const { failure } = moduleOf("dns_dot").report({ results, server: { ip: "127.0.0.1", resolve_ms: 0 } });
    expect(failure).toEqual(cause(stage, reason));
  });
});

describe("the text", () => {
  it("has HELP and TYPE of each family once, sorted by name, and escapes the fields of a certificate", () => {
    const text = renderSamples([
      { name: "b_info", help: "B", labels: { subject: 'CN="a\\b\n"' }, value: 1 },
      { name: "a", help: "A", value: 0 },
    ]);
    expect(text).toBe(
      '# HELP a A\n# TYPE a gauge\na 0\n# HELP b_info B\n# TYPE b_info gauge\nb_info{subject="CN=\\"a\\\\b\\n\\""} 1\n',
    );
  });

  it("hashes addresses of both families", () => {
    expect(hashAddress("127.0.0.1")).toBe(3_668_918_509);
    expect(hashAddress("240.0.0.1")).toBe(833_780_210);
    expect(hashAddress("::1")).not.toBe(hashAddress("::2"));
  });

  it.each([...MODULES.values()])("$name has all its families with value 0 for a probe without a result", (module) => {
    expect(module.failure.length).toBeGreaterThan(3);
    expect(module.failure.filter(({ value }) => value !== 0)).toEqual([]);
  });
});
