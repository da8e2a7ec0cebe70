import { describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { mx } from "#probe-agent/tools/mx/mx.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { growDaneTree } from "#test/support/dane-tree.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";
import { resultOf, type ToolSetting } from "#test/support/tool.ts";
import { messagesOf } from "#test/support/findings.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

const keep = closeAfterEach();

async function serve(options: DnsServerOptions): Promise<DnsServer> {
  return keep(await startDnsServer(options));
}

async function lookAt(domain: string, options: DnsServerOptions, setting: ToolSetting = {}) {
  const server = await serve(options);
  return resultOf(mx, { domain }, { dnsServers: [server.address], ...setting });
}

const ZONES = {
  "example.test": {
    MX: ["20 backup.example.test.", "10 aspmx.l.google.com."],
  },
  "aspmx.l.google.com": { A: ["8.8.8.8"], AAAA: ["2001:4860:4860::8888"] },
  "backup.example.test": { A: ["8.8.4.4"] },
  "8.8.8.8.in-addr.arpa": { PTR: ["aspmx.l.google.com."] },
  "4.4.8.8.in-addr.arpa": { PTR: ["elsewhere.example.test."] },
  "elsewhere.example.test": { A: ["9.9.9.9"] },
  "8.8.8.8.origin.test": { TXT: ['"15169 | 8.8.8.0/24 | US | arin | 2023-12-28"'] },
  "_mta-sts.example.test": { TXT: ['"v=STSv1; id=20260101;"'] },
  "_smtp._tls.example.test": { TXT: ['"v=TLSRPTv1; rua=mailto:tls@example.test"'] },
};

describe("mail exchangers", () => {
  it("are listed by priority with addresses, reverse names, networks and provider", async () => {
    const result = await lookAt("example.test", { zones: ZONES });
    expect(result).toMatchObject({
      domain: "example.test",
      status: "NOERROR",
      null_mx: false,
      implicit_mx: false,
      provider: "Google Workspace",
      ipv6: true,
      mta_sts: { present: true, id: "20260101" },
      tls_rpt: { valid: true, rua: ["mailto:tls@example.test"] },
      source: ["dns", "cymru"],
    });
    expect(result.records).toMatchObject([
      {
        priority: 10,
        host: "aspmx.l.google.com",
        ttl: 300,
        is_cname: false,
        dane: { status: "absent", records: [], reason: null },
        addresses: [
          { ip: "8.8.8.8", ptr: "aspmx.l.google.com", has_ptr: true, fcrdns: true, asn: 15_169 },
          { ip: "2001:4860:4860::8888", ptr: null, has_ptr: false, fcrdns: null, asn: null },
        ],
      },
      { priority: 20, host: "backup.example.test", addresses: [{ ip: "8.8.4.4", fcrdns: false }] },
    ]);
    expect(result.findings).toMatchObject([
      { id: "no-reverse-name", severity: "warning", where: "aspmx.l.google.com" },
      { id: "reverse-name-mismatch", severity: "warning", where: "backup.example.test" },
    ]);
    expect(messagesOf(result.findings)).toBe(
      "2001:4860:4860::8888 of aspmx.l.google.com has no reverse name (PTR): many receivers refuse the mail it sends.\n" +
        "The reverse name of 8.8.4.4 of backup.example.test, elsewhere.example.test, does not resolve to that address.",
    );
    expect(result.findings[1]?.how).toContain("PTR record that names backup.example.test");
    expect(result.limitations.join(" ")).toContain("hosts were not contacted");
  });

  it("cause each DNS lookup only once", async () => {
    const server = await serve({ zones: ZONES });
    await resultOf(mx, { domain: "example.test" }, { dnsServers: [server.address] });
    const asked = server.queries.map(({ name, type }) => `${name.toLowerCase()} ${type}`);
    // The lookup of reverse names queries the PTR names again.
    const once = asked.filter((question) => !/ PTR$|^(elsewhere|aspmx)/.test(question));
    expect(once.toSorted()).toEqual([...new Set(once)].toSorted());
  });
});

describe("odd records", () => {
  it("do not include a null MX that is the only record (RFC 7505)", async () => {
    const result = await lookAt("none.test", { zones: { "none.test": { MX: ["0 ."] } } });
    expect(result).toMatchObject({ null_mx: true, implicit_mx: false, findings: [], ipv6: false });
    expect(result.records).toMatchObject([{ priority: 0, host: ".", addresses: [] }]);
    const zones = { "none.test": { MX: ["0 .", "10 mail.none.test."] }, "mail.none.test": { A: ["8.8.8.8"] } };
    const beside = await lookAt("none.test", { zones });
    expect(beside).toMatchObject({ null_mx: false, findings: [{ id: "null-mx-not-alone" }, {}, {}, {}] });
  });

  it("are absent without MX, when mail goes to the domain's own addresses", async () => {
    const result = await lookAt("own.test", { zones: { "own.test": { A: ["8.8.8.8"] } } });
    expect(result).toMatchObject({ implicit_mx: true, null_mx: false, records: [{ host: "own.test", ttl: null }] });
    expect(result.findings.map(({ id }) => id)).toEqual(["no-reverse-name", "implicit-mx", "no-ipv6"]);
  });

  it("distinguish a domain without addresses from a domain that does not exist", async () => {
    const zones = { "empty.test": { TXT: ['"x"'] } };
    const empty = await lookAt("empty.test", { zones });
    expect(empty).toMatchObject({ implicit_mx: false, records: [], ipv6: null });
    expect(empty.findings).toMatchObject([{ id: "no-mail-route", severity: "critical" }]);
    expect(empty.findings[0]?.how).toContain('"10 mail.empty.test."');
    const absent = await lookAt("absent.test", { zones });
    expect(absent).toMatchObject({ status: "NXDOMAIN", records: [], findings: [{ id: "domain-missing" }] });
  });

  it("cause one finding for each fault", async () => {
    const zones = {
      "bad.test": {
        MX: [
          "5 alias.bad.test.",
          "10 192.0.2.7.",
          "10 inside.bad.test.",
          "20 gone.bad.test.",
          "30 bare.bad.test.",
          "40 inside.bad.test.",
        ],
      },
      "alias.bad.test": { CNAME: ["real.bad.test."] },
      "real.bad.test": { A: ["8.8.8.8"] },
      "inside.bad.test": { A: ["10.0.0.1"] },
      "bare.bad.test": { TXT: ['"x"'] },
    };
    const { findings, records } = await lookAt("bad.test", { zones });
    // One host is reachable, so mail arrives despite the other hosts.
    expect(findings.map(({ id, severity, where }) => [id, severity, where])).toEqual([
      ["host-is-alias", "warning", "alias.bad.test"],
      ["mx-is-address", "warning", "192.0.2.7"],
      ["host-not-public", "warning", "inside.bad.test"],
      ["host-missing", "warning", "gone.bad.test"],
      ["host-without-address", "warning", "bare.bad.test"],
      ["host-not-public", "warning", "inside.bad.test"],
      ["no-reverse-name", "warning", "alias.bad.test"],
      ["host-repeated", "info", "inside.bad.test"],
      ["priority-shared", "info", null],
      ["no-ipv6", "info", null],
    ]);
    expect(records[0]).toMatchObject({ is_cname: true, addresses: [{ ip: "8.8.8.8" }] });
  });
});

describe("a resolver that fails", () => {
  it.each(["SERVFAIL", "REFUSED"])("with %s makes the result unknown, not absent", async (status) => {
    const result = await lookAt("x.test", { behaviours: { "*": { status } } });
    expect(result).toMatchObject({
      status,
      records: [],
      null_mx: null,
      implicit_mx: null,
      ipv6: null,
      provider: null,
      mta_sts: { present: null },
      tls_rpt: { valid: null },
      findings: [],
    });
    expect(result.limitations.join(" ")).toMatch(/MX x\.test.*TXT _mta-sts\.x\.test/);
  });

  it("with truncated answers, also over TCP, makes the result unknown (RFC 2181 section 9)", async () => {
    const zones = { "x.test": { MX: ["10 mail.x.test."] } };
    const behaviours = { "*": { truncate: true, dropOver: "tcp" } } as const;
    const result = await lookAt("x.test", { zones, behaviours });
    expect(result).toMatchObject({
      records: [],
      null_mx: null,
      implicit_mx: null,
      mta_sts: { present: null },
      findings: [],
    });
    expect(result.limitations.join(" ")).toContain("MX x.test: TRUNCATED");
  });

  it("by timeout leaves a result in time", async () => {
    const zones = { "x.test": { MX: ["10 mail.x.test."] } };
    const silent = { zones, behaviours: { "mail.x.test": { drop: true } } } as const;
    const result = await endsBy(3000, () => lookAt("x.test", silent, { timeoutMs: 3000 }));
    expect(result.records).toMatchObject([{ host: "mail.x.test", addresses: [], is_cname: null }]);
    expect(result.ipv6).toBeNull();
    expect(result.limitations.join(" ")).toContain("A mail.x.test: TIMEOUT");
    expect(messagesOf(result.findings)).not.toContain("no address");
  });

  it("on a loop of aliases reports the loop", async () => {
    const zones = {
      "x.test": { MX: ["10 a.x.test."] },
      "a.x.test": { CNAME: ["b.x.test."] },
      "b.x.test": { CNAME: ["a.x.test."] },
    };
    const result = await lookAt("x.test", { zones });
    expect(result.limitations.join(" ")).toContain("A a.x.test: alias loop");
  });
});

describe("hostile zones", () => {
  it("with sixty hosts of sixty addresses each leave a result within bounds", async () => {
    const A = Array.from({ length: 60 }, (_, index) => `192.0.2.${index}`);
    const zones: Record<string, Record<string, string[]>> = { "x.test": { MX: [] } };
    for (let index = 0; index < 60; index += 1) {
      zones["x.test"]?.["MX"]?.push(`${index} ${"h".repeat(50)}${index}.x.test.`);
      zones[`${"h".repeat(50)}${index}.x.test`] = { A };
    }
    const result = await lookAt("x.test", { zones });
    expect(result.records).toHaveLength(20);
    expect(result.records[0]?.addresses).toHaveLength(8);
    expect(result.limitations).toContain("The domain has 60 MX records; the first 20 were checked.");
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
  });
});

describe("DANE", () => {
  async function daneOf(domain: string, forged = false, behaviours: DnsServerOptions["behaviours"] = {}) {
    const tree = growDaneTree(forged);
    const server = await serve({ answer: (name, type) => tree.answer(name, type), behaviours });
    const limits = jobLimits(10_000);
    const net = netOf({ dns: dnsPort([server.address], { limits }), trustAnchors: tree.anchors }, limits);
    const outcome = await mx.run(net, { domain });
    if (outcome.status !== "ok") throw new Error(outcome.status);
    expect(Array.from(Value.Errors(mx.contract.result, outcome.data))).toEqual([]);
    return outcome.data;
  }

  it("is secure if this program validates its signatures, regardless of the resolver's AD flag (RFC 7672)", async () => {
    const { records } = await daneOf("example");
    expect(records[0]?.dane).toMatchObject({
      status: "secure",
      records: [
        { usage: 3, selector: 1, matching_type: 1, usable: true },
        { usage: 1, usable: false },
      ],
    });
  });

  it("causes a finding if no record has a usage for mail", async () => {
    const { records, findings } = await daneOf("pkix");
    expect(records[0]?.dane).toMatchObject({ status: "secure", records: [{ usage: 1, usable: false }] });
    expect(findings).toContainEqual(expect.objectContaining({ id: "tlsa-unusable", severity: "info" }));
    expect(messagesOf((await daneOf("example")).findings)).not.toContain("TLSA");
  });

  it("is insecure without DNSSEC, bogus if the data were changed, and unknown if the lookup fails", async () => {
    const plain = await daneOf("plain");
    expect(plain.records[0]?.dane.status).toBe("insecure");
    expect(plain.findings).toContainEqual(expect.objectContaining({ id: "tlsa-unsigned", severity: "info" }));
    const forged = await daneOf("example", true);
    expect(forged.records[0]?.dane.status).toBe("bogus");
    expect(forged.findings[0]).toMatchObject({ id: "tlsa-bogus", severity: "critical", where: "mail.example" });
    // A validating resolver withholds bogus data unless the query has the CD flag.
    const kept = await daneOf("example", true, {
      "_25._tcp.mail.example": { status: "SERVFAIL", unlessChecked: true },
    });
    expect(kept.records[0]?.dane.status).toBe("bogus");
    const silent = await daneOf("example", false, { "_25._tcp.mail.example": { status: "SERVFAIL" } });
    expect(silent.records[0]?.dane.status).toBe("unknown");
    expect(silent.limitations.join(" ")).toContain("DANE of mail.example is unknown");
  });
});
