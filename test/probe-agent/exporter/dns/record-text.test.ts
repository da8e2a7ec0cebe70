import { describe, expect, it } from "vitest";
import { decodeMessage } from "#probe-agent/dns-codec/message.ts";
import { encodeMessage, type RecordToSend } from "#probe-agent/dns-codec/question.ts";
import { optText, recordText } from "#probe-agent/exporter/dns/record-text.ts";
import { makeRecord } from "#test/servers/dns-zones.ts";

/** Returns the texts of records after a message was sent, so that names are compressed as by a server. */
function sent(...records: readonly RecordToSend[]): (string | null)[] {
  const { answers } = decodeMessage(encodeMessage({ id: 1, response: true, answers: records }));
  return answers.map(recordText);
}

const textOf = (type: string, data: string): string | null => sent(makeRecord("x.test", type, data))[0] ?? null;

// The texts are those that blackbox_exporter 0.23 wrote to its log ("Validating RR") for the same records.
const KNOWN: readonly (readonly [type: string, data: string, text: string])[] = [
  ["A", "192.0.2.1", "192.0.2.1"],
  ["AAAA", "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
  ["AAAA", "::1", "::1"],
  ["AAAA", "::ffff:192.0.2.7", "192.0.2.7"],
  ["NS", "ns1.Example.test.", "ns1.Example.test."],
  ["NS", ".", "."],
  ["CNAME", "x'y.a\\032b\\$.test.", "x\\'y.a\\ b$.test."],
  ["DNAME", "y.test.", "y.test."],
  ["PTR", "p.test.", "p.test."],
  ["MB", "\\# 3 016100", "a."],
  ["MINFO", "\\# 6 016100016200", "a. b."],
  ["RT", "\\# 5 0001016100", "1 a."],
  ["PX", "\\# 8 0001016100016200", "1 a. b."],
  [
    "SOA",
    "ns.example.test. host\\.master.example.test. 2024010101 7200 3600 1209600 300",
    "ns.example.test. host\\.master.example.test. 2024010101 7200 3600 1209600 300",
  ],
  ["MX", "10 mail.example.test.", "10 mail.example.test."],
  ["TXT", '"v=spf1 -all" "second"', '"v=spf1 -all" "second"'],
  ["TXT", '"q\\"b\\\\s; (p) \\009t \\200\\255 @ $"', '"q\\"b\\\\s; (p) \\009t \\200\\255 @ $"'],
  ["TXT", '""', '""'],
  ["TXT", "\\# 0", ""],
  ["SPF", '"v=spf1 -all"', '"v=spf1 -all"'],
  ["HINFO", '"PC \\"x" "Linux;"', '"PC \\"x" "Linux;"'],
  ["RP", "a.test. b.test.", "a.test. b.test."],
  ["AFSDB", "1 a.test.", "1 a.test."],
  ["KX", "1 k.test.", "1 k.test."],
  ["SRV", "1 2 443 s.test.", "1 2 443 s.test."],
  [
    "NAPTR",
    '100 50 "s" "http+I2L" "!^.*$!sip:x\\\\1@y\\"!" r\\$.test.',
    '100 50 "s" "http+I2L" "!^.*$!sip:x\\\\1@y\\"!" r$.test.',
  ],
  ["DS", "60485 5 1 2BB183AF", "60485 5 1 2BB183AF"],
  ["DS", "1 5 1", "1 5 1 "],
  ["CDS", "60485 5 1 2BB183AF", "60485 5 1 2BB183AF"],
  ["DNSKEY", "257 3 5 AQPSKmyn", "257 3 5 AQPSKmyn"],
  ["DNSKEY", "256 3 5", "256 3 5 "],
  [
    "RRSIG",
    "TYPE1234 5 3 86400 21300322173103 20000220173103 2642 e.test. oJB1",
    "TYPE1234 5 3 86400 19940213110247 20000220173103 2642 e.test. oJB1",
  ],
  ["NSEC", "host.example.test. A MX RRSIG NSEC TYPE1234", "host.example.test. A MX RRSIG NSEC TYPE1234"],
  ["NSEC3", "1 1 12 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR", "1 1 12 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR"],
  ["NSEC3PARAM", "1 0 12 AABBCCDD", "1 0 12 AABBCCDD"],
  ["CSYNC", "66 3 A NS AAAA", "66 3 A NS AAAA"],
  ["ZONEMD", "2018031500 1 1 FEBE3D4C", "2018031500 1 1 febe3d4c"],
  ["SSHFP", "2 1 123456789ABCDEF6", "2 1 123456789ABCDEF6"],
  ["SSHFP", "1 1", "1 1 "],
  ["TLSA", "3 1 1 D2ABDE240D7C", "3 1 1 d2abde240d7c"],
  ["SMIMEA", "3 1 1 D2ABDE24", "3 1 1 d2abde24"],
  ["OPENPGPKEY", "mQCNAzIG", "mQCNAzIG"],
  // The library removes the backslash of these texts, and takes it for an escape.
  ["URI", '10 1 "ftp://x/\\"a\\\\b public"', '10 1 "ftp://x/\\"ab public"'],
  ["CAA", '0 issue "ca.test; x=\\"y\\\\\\200"', '0 issue "ca.test; x=\\"y\\200"'],
  ["CAA", '128 tbs ""', '128 tbs ""'],
  ["SVCB", "0 s.test.", "0 s.test."],
  [
    "SVCB",
    '2 t.test. mandatory=alpn,port,key99 alpn="f\\\\\\\\oo\\\\,bar,h2" no-default-alpn port=1 key99="x"',
    '2 t.test. mandatory="alpn,port,key99" alpn="f\\\\\\092oo\\\\\\044bar,h2" no-default-alpn="" port="1" key99="x"',
  ],
  ["HTTPS", '1 . alpn="a b\\"c\\;"', '1 . alpn="a\\ b\\"c\\;"'],
  ["HTTPS", '1 . alpn="h2" dohpath="/x y"', '1 . alpn="h2" dohpath="/x\\ y"'],
];

describe("the text of a record", () => {
  it.each(KNOWN)("of type %s is that of the exporter for %s", (type, data, text) => {
    expect(textOf(type, data)).toBe(`x.test.\t300\tIN\t${type}\t${text}`);
  });

  it("of an unknown type has class and type as numbers, also of types that the library lacks", () => {
    expect(textOf("TYPE65280", "\\# 4 0A000001")).toBe("x.test.\t300\tCLASS1\tTYPE65280\t\\# 4 0a000001");
    expect(textOf("TYPE65280", "\\# 0")).toBe("x.test.\t300\tCLASS1\tTYPE65280\t\\# 0 ");
    expect(textOf("WKS", "\\# 6 0102030405FF")).toBe("x.test.\t300\tCLASS1\tTYPE11\t\\# 6 0102030405ff");
  });

  it("escapes the owner as the library does and names the class", () => {
    const odd = { ...makeRecord('odd.\\(pa\\@r\\).a\\.b.\\009\\200\\$\\;\\"\\\\.test', "A", "192.0.2.3"), class: 3 };
    expect(sent(odd)).toEqual(['odd.\\(pa\\@r\\).a\\.b.\\009\\200$\\;\\"\\\\.test.\t300\tCH\tA\t192.0.2.3']);
    expect(sent({ ...makeRecord(".", "A", "192.0.2.3"), class: 77 })).toEqual([".\t300\tCLASS77\tA\t192.0.2.3"]);
  });

  it("is null for RDATA that is not valid for its type", () => {
    expect(textOf("AAAA", "\\# 3 010203")).toBeNull();
    expect(textOf("TXT", "\\# 3 05aabb")).toBeNull();
  });

  it("of OPT shows version, flags and size", () => {
    const opt = { udpSize: 1232, version: 0, extendedRcode: 0, options: [], ede: [], nsid: null };
    expect(optText({ ...opt, dnssecOk: false })).toBe("\n;; OPT PSEUDOSECTION:\n; EDNS: version 0; flags: ; udp: 1232");
    expect(optText({ ...opt, dnssecOk: true })).toContain("flags: do; udp");
  });
});
