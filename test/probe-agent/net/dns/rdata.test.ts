import { describe, expect, it } from "vitest";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { canonicalRdata, parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";

/**
 * Type, presentation form as dig prints it, fields. The first row of each type is from its RFC or a well-known zone.
 */
const TABLE: readonly [type: string, data: string, typed: object][] = [
  ["A", "192.0.2.1", { address: "192.0.2.1" }],
  ["AAAA", "2001:db8::1:0:0:1", { address: "2001:db8::1:0:0:1" }],
  ["AAAA", "::", { address: "::" }],
  ["AAAA", "1:0:0:2::", { address: "1:0:0:2::" }],
  ["AAAA", "1:2:3:4:5:6:0:8", { address: "1:2:3:4:5:6:0:8" }],
  ["AAAA", "::ffff:192.0.2.1", { address: "::ffff:192.0.2.1" }],
  ["NS", "ns1.example.test.", { nsdname: "ns1.example.test" }],
  ["CNAME", "a\\.b.example.test.", { cname: "a\\.b.example.test" }],
  ["DNAME", ".", { target: "." }],
  ["PTR", "host.example.test.", { ptrdname: "host.example.test" }],
  [
    "SOA",
    "ns1.example.test. host\\.master.example.test. 4294967295 7200 3600 1209600 300",
    {
      mname: "ns1.example.test",
      rname: "host\\.master.example.test",
      serial: 4_294_967_295,
      refresh: 7200,
      retry: 3600,
      expire: 1_209_600,
      minimum: 300,
    },
  ],
  ["MX", "0 .", { preference: 0, exchange: "." }],
  ["TXT", '"v=spf1 -all" "" "a\\"b\\\\c\\000\\255; d"', { strings: ["v=spf1 -all", "", 'a"b\\c\0\u00ff; d'] }],
  ["TXT", '"caf\\195\\169"', { strings: ["caf\u00c3\u00a9"], text: "café" }],
  ["SPF", '"v=spf1 -all"', { text: "v=spf1 -all" }],
  ["HINFO", '"VAX-11/780" "UNIX"', { cpu: "VAX-11/780", os: "UNIX" }],
  ["RP", "louie.trantor.umd.edu. lam1.people.umd.edu.", { mbox_dname: "louie.trantor.umd.edu" }],
  ["AFSDB", "1 bigbird.toaster.test.", { subtype: 1, hostname: "bigbird.toaster.test" }],
  ["KX", "1 rt1.example.test.", { preference: 1, exchanger: "rt1.example.test" }],
  [
    "LOC",
    "42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m",
    { latitude: 42.365, longitude: -71.105, altitude_m: -24, size_m: 30 },
  ],
  ["LOC", "32 7 19.250 S 116 2 25.001 E 10.00m 0.00m 0.01m 90000000.00m", { size_m: 0, vertical_precision_m: 9e7 }],
  ["SRV", "0 9 65535 server.example.test.", { priority: 0, weight: 9, port: 65_535, target: "server.example.test" }],
  [
    "NAPTR",
    '100 50 "s" "http+N2L+N2C+N2R" "" www.example.test.',
    {
      order: 100,
      preference: 50,
      flags: "s",
      services: "http+N2L+N2C+N2R",
      regexp: "",
      replacement: "www.example.test",
    },
  ],
  ["DS", "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118", { key_tag: 60_485, algorithm: 5, digest_type: 1 }],
  ["CDS", "0 0 0 00", { algorithm: 0, digest: "00" }],
  [
    "DNSKEY",
    "256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3Cbl+BBZH4b/0PY1kxkmvHjcZc8nokfzj31GajIQKY+5CptLr3buXA10hWqTkF7H6RfoRqXQeogmMHfpftf6zMv1LyBUgia7za6ZEzOJBOztyvhjL742iU/TpPSEDhm2SNKLijfUppn1UaNvv4w==",
    { flags: 256, key_tag: 2642 },
  ],
  ["CDNSKEY", "0 3 0 AA==", { algorithm: 0, public_key: "AA==" }],
  [
    "RRSIG",
    "A 5 3 86400 20030322173103 20030220173103 2642 example.com. oJB1W6WNGv+ldvQ3WDG0MQkg5IEhjRip8WTrPYGv07h108dUKGMeDPKijVCHX3DDKdfb+v6oB9wfuh3DTJXUAfI/M0zmO/zz8bW0Rznl8O3tGNazPwQKkRN20XPXV6nwwfoXmJQbsLNrLfkGJ5D6fwFm8nN+6pBzeDQfsS3Ap3o=",
    { type_covered: "A", labels: 3, expiration: 1_048_354_263, inception: 1_045_762_263, signer_name: "example.com" },
  ],
  ["NSEC", "host.example.com. A MX RRSIG NSEC TYPE1234", { types: ["A", "MX", "RRSIG", "NSEC", "TYPE1234"] }],
  [
    "NSEC3",
    "1 1 12 AABBCCDD 2VPTU5TIMAMQTTGL4LUU9KG21E0AOR3S A RRSIG CAA",
    { iterations: 12, salt: "AABBCCDD", next_hashed_owner: "2VPTU5TIMAMQTTGL4LUU9KG21E0AOR3S" },
  ],
  ["NSEC3", "1 0 0 - 2VPTU5TIMAMQTTGL4LUU9KG21E0AOR3S", { salt: "", types: [] }],
  ["NSEC3PARAM", "1 0 0 -", { hash_algorithm: 1, salt: "" }],
  ["CSYNC", "66 3 A NS AAAA", { serial: 66, flags: 3, types: ["A", "NS", "AAAA"] }],
  ["ZONEMD", "2018031500 1 1 FEBE3D4CE2EC2FFA4BA99D46CD69D6D29711E55217057BEE", { scheme: 1 }],
  ["SSHFP", "2 1 123456789ABCDEF67890123456789ABCDEF67890", { algorithm: 2, fp_type: 1 }],
  ["TLSA", "3 1 1 D2ABDE240D7CD3EE6B4B28C54DF034B97983A1D16E8A410E4561CB106618E971", { certificate_usage: 3 }],
  ["SMIMEA", "3 0 0 00", { matching_type: 0 }],
  ["OPENPGPKEY", "AQIDBA==", { public_key: "AQIDBA==" }],
  ["HTTPS", "0 foo.example.com.", { priority: 0, target: "foo.example.com", params: {} }],
  [
    "HTTPS",
    '16 foo.example.org. mandatory=alpn,ipv4hint alpn="h2,h3-19" ipv4hint=192.0.2.1',
    { params: { mandatory: ["alpn", "ipv4hint"], alpn: ["h2", "h3-19"], ipv4hint: ["192.0.2.1"] } },
  ],
  ["SVCB", "16 foo.example.com. port=53", { params: { port: 53 } }],
  ["SVCB", '1 foo.example.com. key667="hello"', { params: { key667: "hello" } }],
  ["SVCB", '1 foo.example.com. key667="hello\\210qoo"', { params: { key667: "hello\u00d2qoo" } }],
  [
    "SVCB",
    '1 . alpn="h2" no-default-alpn ech=AAEC ipv6hint=2001:db8::1,2001:db8::53:1',
    { params: { "no-default-alpn": true } },
  ],
  ["SVCB", '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"', { params: { alpn: ["f\\oo,bar", "h2"] } }],
  ["SVCB", '1 . alpn="h2" dohpath="/dns-query{?dns}"', { params: { dohpath: "/dns-query{?dns}" } }],
  ["URI", '10 1 "ftp://ftp1.example.test/public"', { target: "ftp://ftp1.example.test/public" }],
  ["CAA", '128 issue "ca.example.net; account=230123"', { tag: "issue", critical: true }],
  ["CAA", '0 issue ";"', { value: ";", critical: false }],
  ["TYPE731", "\\# 6 ABCDEF012345", {}],
  ["NULL", "\\# 0", {}],
];

function show(type: string, raw: Uint8Array) {
  return readRdata(type, raw, 0, raw.length);
}

describe("RDATA in zone-file form", () => {
  it.each(TABLE)("%s %s", (type, data, typed) => {
    const raw = parseRdata(type, data);
    const shown = show(type, raw);
    expect(shown.data).toBe(data);
    expect(shown.typed).toMatchObject(typed);
    expect(shown.raw).toEqual(raw);
    expect(JSON.parse(JSON.stringify(shown.typed))).toEqual(shown.typed);
  });

  it("is parsed in other spellings", () => {
    const same = (type: string, text: string): string => show(type, parseRdata(type, text)).data;
    expect(same("A", "\\# 4 c0000201")).toBe("192.0.2.1");
    expect(same("TXT", 'plain "two words" a\\032b')).toBe('"plain" "two words" "a b"');
    expect(same("LOC", "42 21 54 N 71 06 18 W -24m 30m")).toContain("42 21 54.000 N 71 6 18.000 W -24.00m 30.00m");
    expect(same("DS", "1 8 2 aabb CCDD")).toBe("1 8 2 AABBCCDD");
    expect(same("RRSIG", "A 5 3 86400 1048354263 1045762263 2642 example.com. AA==")).toContain("20030322173103");
    expect(same("SVCB", "1 . ipv4hint=192.0.2.1 port=1 key1=h2")).toBe('1 . alpn="h2" port=1 ipv4hint=192.0.2.1');
  });

  it.each([
    ["A", "1.2.3"],
    ["A", "192.0.2.1 192.0.2.2"],
    ["A", "\\# 5 c0000201"],
    ["AAAA", "fe80::1%eth0"],
    ["MX", "65536 a."],
    ["MX", "10"],
    ["MX", "ten a."],
    ["NS", "a..b"],
    ["TXT", '"open'],
    ["TXT", `"${"x".repeat(256)}"`],
    ["TXT", "a\\999"],
    ["TXT", "€"],
    ["DS", "1 1 1 ABC"],
    ["DNSKEY", "256 3 8 A*=="],
    ["NSEC", "a. BOGUS"],
    ["NSEC3", "1 0 0 - !"],
    ["RRSIG", "A 5 3 1 20031322173103 20030220173103 1 a. AA=="],
    ["LOC", "91 0 0 N 0 0 0 E 0m"],
    ["SVCB", "1 . bogus=1"],
    ["TYPE731", "abc"],
  ])("is refused: %s %s", (type, text) => {
    expect(() => parseRdata(type, text)).toThrow(DecodeError);
  });
});

describe("RDATA that is not valid for its type", () => {
  it.each([
    ["A", "0a0000"],
    ["A", "0a00000000"],
    ["AAAA", "00"],
    ["MX", "00"],
    ["TXT", ""],
    ["TXT", "0561"],
    ["SOA", "0000"],
    ["NSEC", "000120"],
    ["NSEC", "000000"],
    ["NSEC", "00010140000140"],
    ["SVCB", "0001000003000101"],
    ["SVCB", "00010000010000"],
    ["SVCB", "00010000030002003500010003026832"],
    ["LOC", "01000000000000000000000000000000"],
    ["NSEC3", "0100000005aabb"],
    ["CAA", "0005697373"],
  ])("is shown as octets: %s %s", (type, hex) => {
    const octets = Uint8Array.from(Buffer.from(hex, "hex"));
    const shown = show(type, octets);
    expect(shown).toEqual({
      data: `\\# ${octets.length} ${hex.toUpperCase()}`.trim(),
      raw: octets,
      typed: {},
    });
  });

  it("makes the message unreadable if a name in it cannot be read", () => {
    for (const hex of ["c000", "0001c00c", "05616263", "000163c0"]) {
      const octets = Uint8Array.from(Buffer.from(hex, "hex"));
      expect(() => show(hex.startsWith("0001") ? "MX" : "NS", octets)).toThrow(DecodeError);
    }
  });
});

describe("the raw octets", () => {
  it("have names expanded", () => {
    const message = Uint8Array.from([
      ...new Uint8Array(12),
      ...(textToName("Example.test") ?? []),
      0,
      10,
      1,
      97,
      0xc0,
      12,
    ]);
    const shown = readRdata("MX", message, 26, message.length);
    expect(shown.data).toBe("10 a.Example.test.");
    expect(shown.raw).toEqual(parseRdata("MX", "10 a.Example.test."));
  });

  it("have lower-case names in canonical form only for the types in RFC 4034", () => {
    const canonical = (type: string, text: string): string =>
      show(type, canonicalRdata(type, parseRdata(type, text))).data;
    expect(canonical("MX", "10 Mail.Example.TEST.")).toBe("10 mail.example.test.");
    expect(canonical("SOA", "NS1.Test. Host.Test. 1 2 3 4 5")).toBe("ns1.test. host.test. 1 2 3 4 5");
    expect(canonical("RRSIG", "A 8 2 1 20300101000000 20200101000000 1 Example.TEST. AAAA")).toContain("example.test.");
    expect(canonical("NSEC", "Next.TEST. A")).toBe("Next.TEST. A");
    expect(canonical("HTTPS", "1 Svc.TEST.")).toBe("1 Svc.TEST.");
    expect(canonical("TXT", '"ABC"')).toBe('"ABC"');
    expect(canonicalRdata("MX", Uint8Array.of(1))).toEqual(Uint8Array.of(1));
  });
});
