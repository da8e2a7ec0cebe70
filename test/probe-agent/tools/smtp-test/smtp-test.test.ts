import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { smtpTest } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { EHLO } from "#test/servers/smtp.ts";
import { idsOf } from "#test/support/findings.ts";
import { MAIL_HOST, startMailWorld } from "#test/support/mail.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

const world = await startMailWorld();
afterEach(() => world.stop());
afterAll(() => world.close());

describe("a good mail server", () => {
  it("is described from greeting to QUIT, including TLS", async () => {
    const { result, server } = await world.test();
    expect(result).toMatchObject({
      target: "example.test",
      mx_used: MAIL_HOST,
      mx_records: [
        { host: MAIL_HOST, priority: 10 },
        { host: "mx2.example.test", priority: 20 },
      ],
      attempts: [{ host: MAIL_HOST, ip: "127.0.0.1", result: "connected" }],
      ip: "127.0.0.1",
      ip_version: 4,
      port: server.port,
      implicit_tls: false,
      banner: {
        code: 220,
        text: "mail.example.test ESMTP Postfix",
        hostname: "mail.example.test",
        esmtp: true,
        software: "Postfix",
        faults: [],
      },
      ehlo: {
        code: 250,
        greeting: "mail.example.test at your service",
        hostname: "mail.example.test",
        extensions: { PIPELINING: "", SIZE: "35882577", STARTTLS: "", "8BITMIME": "", SMTPUTF8: "" },
      },
      helo_only: false,
      starttls: {
        offered: true,
        success: true,
        code: 220,
        failure: null,
        plaintext_after_reply: null,
        tls: {
          protocol: "TLSv1.3",
          chain_length: 2,
          hostname_match: true,
          trusted: true,
          error: null,
          certificate: { san: [MAIL_HOST], self_signed: false, key_type: "EC" },
        },
      },
      pipelining: true,
      size_limit_bytes: 35_882_577,
      auth_mechanisms: [],
      auth_before_tls: false,
      ptr: "mail.example.test",
      fcrdns: true,
      ptr_match: true,
      open_relay: null,
      findings: [],
    });
    expect(result.ehlo_tls?.extensions).toEqual({ PIPELINING: "", SIZE: "35882577", "8BITMIME": "", SMTPUTF8: "" });
    expect(server.commands).toEqual(["EHLO [127.0.0.1]", "STARTTLS", "tls: EHLO [127.0.0.1]", "tls: QUIT"]);
    expect(result.transcript.map(({ from, text }) => `${from}: ${text}`)).toContain("client: STARTTLS");
    expect(Object.values(result.timings_ms).every((ms) => ms !== null && ms >= 0)).toBe(true);
    expect(result.limitations).toEqual(["The check does not test for an open relay, because it never sends mail."]);
  });

  it("is tested by its own name or address if it has no MX", async () => {
    const { result } = await world.test(
      { chain: [await world.pki.issue({ dns: ["host.example.test"] }), world.pki.intermediate] },
      "host.example.test",
    );
    expect(result).toMatchObject({ mx_used: null, mx_records: [], starttls: { tls: { trusted: true } } });
    const literal = await world.test(
      { chain: [await world.pki.issue({ ip: ["127.0.0.1"] }), world.pki.intermediate] },
      "127.0.0.1",
    );
    expect(literal.result).toMatchObject({ mx_used: null, starttls: { tls: { hostname_match: true, error: null } } });
  });

  it("can use implicit TLS", async () => {
    const { result, server } = await world.test({
      implicit: true,
      ehlo: EHLO.replace("250-STARTTLS\r\n", "250-AUTH PLAIN LOGIN\r\n"),
    });
    expect(result).toMatchObject({
      implicit_tls: true,
      banner: { code: 220 },
      starttls: { offered: false, success: null, code: null, tls: { protocol: "TLSv1.3", trusted: true } },
      auth_mechanisms: ["PLAIN", "LOGIN"],
      auth_before_tls: null,
      pipelining: true,
      findings: [],
    });
    expect(server.commands).toEqual(["tls: EHLO [127.0.0.1]", "tls: QUIT"]);
  });
});

describe("certificates after STARTTLS", () => {
  it.each([
    ["expired", { notBefore: daysFromNow(-100), notAfter: daysFromNow(-10) }, "expired"],
    ["of another name", { dns: ["other.example"] }, "hostname_mismatch"],
    ["self-signed", { issuer: null }, "self_signed"],
  ])("%s are reported, and TLS is established", async (_name, options, error) => {
    const leaf = await world.pki.issue({ dns: [MAIL_HOST], ...options });
    const { result } = await world.test({ chain: error === "self_signed" ? [leaf] : [leaf, world.pki.intermediate] });
    expect(result.starttls).toMatchObject({ success: true, failure: null, tls: { trusted: false, error } });
    expect(idsOf(result.findings)).toContain("certificate-not-trusted");
    expect(result.ehlo_tls).not.toBeNull();
  });

  it("of an unknown root or without the intermediate are not trusted", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const leaf = await stranger.issue({ dns: [MAIL_HOST] });
    const strange = await world.test({ chain: [leaf, stranger.intermediate, stranger.root] });
    expect(strange.result.starttls.tls?.error).toBe("untrusted_root");
    const short = await world.test({ chain: world.good.slice(0, 1) });
    expect(short.result.starttls.tls?.error).toBe("untrusted_root");
    const announced = await world.pki.issue({ dns: [MAIL_HOST], caIssuers: ["http://pki.example/intermediate.der"] });
    const fetchable = await world.test({ chain: [announced] });
    expect(fetchable.result.starttls.tls?.error).toBe("missing_intermediate");
  });

  it("of an old server come with a finding on TLS 1.0", async () => {
    const { result } = await world.test({ tls: { minVersion: "TLSv1", maxVersion: "TLSv1" } });
    expect(result.starttls.tls?.protocol).toBe("TLSv1");
    expect(idsOf(result.findings)).toContain("tls-obsolete");
  });

  it("are verified with the time of the control plane", async () => {
    const later = { now: () => daysFromNow(400) };
    const { result } = await world.test({}, "example.test", later);
    expect(result.starttls.tls).toMatchObject({ error: "expired" });
  });
});

describe("mail hosts", () => {
  it("are tried in order until one accepts the connection", async () => {
    const server = await world.serve({ host: "127.0.0.2", ehlo: "250 mx2.example.test\r\n" });
    const result = await resultOf(smtpTest, { target: "down.example.test", port: server.port }, world.setting);
    expect(result).toMatchObject({
      mx_used: "mx2.example.test",
      attempts: [
        { host: "gone.example.test", ip: null, result: "nxdomain" },
        { host: "mx2.example.test", ip: "127.0.0.2", result: "connected" },
      ],
    });
    const best = await resultOf(smtpTest, { target: "example.test", port: server.port }, world.setting);
    expect(best.attempts).toEqual([
      { host: MAIL_HOST, ip: "127.0.0.1", result: "refused" },
      { host: "mx2.example.test", ip: "127.0.0.2", result: "connected" },
    ]);
  });

  it("are not tried after one that refuses in its greeting", async () => {
    const first = await world.serve({ greeting: "554 no\r\n" });
    const second = await world.serve({ host: "127.0.0.2", port: first.port });
    const result = await resultOf(smtpTest, { target: "example.test", port: first.port }, world.setting);
    expect([result.mx_used, result.banner?.code, second.accepted()]).toEqual([MAIL_HOST, 554, 0]);
  });

  it.each([
    ["null.example.test", { stage: "dns", source: "target", reason: "null_mx" }],
    ["dead.example.test", { stage: "dns", reason: "nxdomain" }],
    ["nowhere.example.test", { stage: "dns", reason: "nxdomain" }],
    ["refused.example.test", { stage: "connect", reason: "refused" }],
    ["deaf.example.test", { stage: "connect", reason: "refused" }],
  ])("%s fails", async (target, expected) => {
    const { outcome } = await runTool(smtpTest, { target, port: 9 }, world.setting);
    expect(outcome).toMatchObject({ status: "failed", ...expected });
  });

  it("in a private network are refused", async () => {
    const { outcome } = await runTool(smtpTest, { target: "private.example.test" }, world.setting);
    expect(outcome).toEqual({ status: "refused" });
    const strict = createEgress({ targets: [], names: [] });
    const { outcome: loopback } = await runTool(
      smtpTest,
      { target: "example.test" },
      { ...world.setting, egress: strict },
    );
    expect(loopback).toEqual({ status: "refused" });
  });

  it("are replaced by the target itself if the MX lookup fails, with a limitation", async () => {
    const { outcome } = await runTool(smtpTest, { target: "servfail.example.test" }, world.setting);
    expect(outcome.status).toBe("failed");
    const server = await world.serve();
    const dns = await startDnsServer({
      zones: { "host.example.test": { A: ["127.0.0.1"] } },
      behaviours: { "host.example.test/MX": { status: "SERVFAIL" } },
    });
    try {
      const result = await resultOf(
        smtpTest,
        { target: "host.example.test", port: server.port },
        { ...world.setting, dnsServers: [dns.address] },
      );
      expect(result.mx_used).toBeNull();
      expect(result.limitations[0]).toContain("The MX records could not be looked up (SERVFAIL)");
    } finally {
      await dns.close();
    }
  });
});

describe("a running test", () => {
  it("emits every line immediately", async () => {
    const server = await world.serve({ chain: world.good });
    const { events } = await runTool(smtpTest, { target: "example.test", port: server.port }, world.setting);
    expect(events.map(({ kind }) => kind)).toContain("line");
    expect(events[0]).toMatchObject({
      kind: "line",
      data: { from: "server", text: "220 mail.example.test ESMTP Postfix" },
    });
  });
});
