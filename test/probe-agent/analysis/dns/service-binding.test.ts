import { describe, expect, it } from "vitest";
import { httpsQueryName, readHttpsAnswer } from "#probe-agent/analysis/dns/service-binding.ts";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

function record(name: string, data: string, type = "HTTPS"): DnsRecord {
  const raw = parseRdata(type, data);
  const { typed } = readRdata(type, raw, 0, raw.length);
  return { name, type, class: 1, ttl: 60, data, raw, typed };
}

function services(...records: DnsRecord[]) {
  const read = readHttpsAnswer(records);
  return read.mode === "service" ? read.records : read;
}

describe("HTTPS records (RFC 9460)", () => {
  it.each([
    ["example.com", 443, "example.com"],
    ["example.com", 80, "example.com"],
    ["api.example.com", 8443, "_8443._https.api.example.com"],
  ])("of %s:%i are at %s (sections 2.3, 9.1 and 9.5)", (host, port, name) => {
    expect(httpsQueryName(host, port)).toBe(name);
  });

  it("in ServiceMode list hosts, the preferred one first (section 2.4.3)", () => {
    // The last record is the example of section 2.3.
    const read = services(
      record("svc4.example.net", '3 svc4.example.net. alpn="bar" port=8004'),
      record("svc4.example.net", '1 . alpn="h3"'),
      record("svc4.example.net", '2 . alpn="h2"'),
    );
    expect(read).toMatchObject([
      { priority: 1, target: "svc4.example.net", alpn: ["h3", "http/1.1"], port: null, compatible: true },
      { priority: 2, alpn: ["h2", "http/1.1"] },
      { priority: 3, target: "svc4.example.net", alpn: ["bar", "http/1.1"], port: 8004 },
    ]);
  });

  it("in AliasMode redirect, and override records in ServiceMode (section 2.4.1)", () => {
    expect(services(record("example.com", "1 . alpn=h3"), record("example.com", "0 pool.svc.example."))).toEqual({
      mode: "alias",
      target: "pool.svc.example",
    });
    expect(services(record("example.com", "0 ."))).toEqual({ mode: "alias", target: null });
  });

  it("include the default protocol unless no-default-alpn is set (section 7.1)", () => {
    expect(services(record("a.test", "1 ."))).toMatchObject([{ alpn: ["http/1.1"] }]);
    expect(services(record("a.test", "1 . alpn=h2,http/1.1"))).toMatchObject([{ alpn: ["h2", "http/1.1"] }]);
    expect(services(record("a.test", "1 . alpn=h2 no-default-alpn"))).toMatchObject([{ alpn: ["h2"] }]);
    expect(services(record("a.test", "1 . no-default-alpn"))).toMatchObject([{ alpn: ["http/1.1"] }]);
  });

  it("are incompatible if a mandatory parameter is unknown or missing (section 8)", () => {
    expect(services(record("a.test", "1 . mandatory=alpn,port alpn=h3 port=1"))).toMatchObject([{ compatible: true }]);
    expect(services(record("a.test", "1 . mandatory=alpn alpn=h3 key667=x"))).toMatchObject([{ compatible: true }]);
    expect(services(record("a.test", "1 . mandatory=key667 key667=x"))).toMatchObject([{ compatible: false }]);
    expect(services(record("a.test", "1 . mandatory=port alpn=h3"))).toMatchObject([{ compatible: false }]);
  });

  it("contain addresses, and keys for Encrypted ClientHello", () => {
    expect(services(record("a.test", "1 . ech=AAEC ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1"))).toMatchObject([
      { ech: true, ipv4hint: ["192.0.2.1", "192.0.2.2"], ipv6hint: ["2001:db8::1"] },
    ]);
  });

  it("are distinguished from other records and from unreadable ones", () => {
    expect(services(record("a.test", "192.0.2.1", "A"))).toEqual({ mode: "none" });
    expect(services({ ...record("a.test", "1 ."), typed: {} })).toEqual({ mode: "none" });
  });
});
