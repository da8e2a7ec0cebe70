import { describe, expect, it } from "vitest";
import { matchesDs, readDs } from "#probe-agent/tools/dns/dnssec/delegations.ts";
import { Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { readKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { compareNames, parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { hashName } from "#probe-agent/tools/dns/dnssec/denial.ts";
import { groupRrsets } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { verifyRrset } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { anchorsOf, validateIn } from "#test/servers/dnssec/tree.ts";
import { fixtureZone } from "#test/servers/dnssec/zone.ts";

function name(text: string): Name {
  const read = parseName(text);
  if (read === null) throw new Error(`${text} is no name`);
  return read;
}

describe("RFC 4035 appendix B", () => {
  const zone = { ...fixtureZone("rfc4035"), apex: "example" };
  const options = { anchors: anchorsOf(zone), now: new Date("2004-05-01T00:00:00Z") };

  it.each([
    ["B.1 answer", "x.w.example", "MX", "secure", null, "Signed by example"],
    ["B.1 authority", "example", "NS", "secure", null, "Signed by example"],
    ["B.1 additional", "xx.example", "A", "secure", null, "Signed by example"],
    ["B.1 additional", "xx.example", "AAAA", "secure", null, "Signed by example"],
    ["B.1 additional", "ns1.example", "A", "secure", null, "Signed by example"],
    ["B.1 additional", "ns2.example", "A", "secure", null, "Signed by example"],
    ["B.2 name error", "ml.example", "A", "secure", "nsec", "ml.example does not exist"],
    ["B.3 no data", "ns1.example", "MX", "secure", "nsec", "has no record of this type"],
    ["B.4 signed delegation", "a.example", "DS", "secure", null, "Signed by example"],
    [
      "B.5 unsigned delegation",
      "b.example",
      "MX",
      "insecure",
      null,
      "The parent proves with NSEC that b.example has no DS",
    ],
    ["B.6 wildcard expansion", "a.z.w.example", "MX", "secure", "nsec", "expanded from the wildcard *.w.example"],
    ["B.7 wildcard no data", "a.z.w.example", "AAAA", "secure", "nsec", "has no record of this type"],
    ["appendix A", "example", "MX", "secure", null, "Signed by example"],
    ["appendix A", "ai.example", "HINFO", "secure", null, "Signed by example"],
    ["appendix A", "ai.example", "AAAA", "secure", null, "Signed by example"],
  ])("%s: %s %s is %s", (_section, owner, type, status, denial, reason) => {
    // The zone of B.5 does not exist here, so its servers would be queried.
    const child = {
      apex: "b.example",
      records: [makeDnsRecord("b.example", "SOA", ". . 1 1 1 1 1"), makeDnsRecord("b.example", "MX", "1 b.")],
    };
    const verdict = validateIn([zone, child], { name: owner, type }, options);
    expect(verdict.reasons.join("\n")).toContain(reason);
    expect(verdict).toMatchObject({ status, denial });
  });

  it("is bogus after May 2004", () => {
    const late = { ...options, now: new Date("2004-05-09T18:36:20Z") };
    expect(validateIn([zone], { name: "example", type: "MX" }, late).reasons.join()).toContain(
      "expired at 2004-05-09T18:36:19Z",
    );
  });
});

describe("RFC 5155", () => {
  const zone = { ...fixtureZone("rfc5155"), apex: "example" };
  const options = { anchors: anchorsOf(zone), now: new Date("2010-01-01T00:00:00Z") };

  it.each([
    ["example", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"],
    ["a.example", "35mthgpgcu1qg68fab165klnsnk3dpvl"],
    ["ai.example", "gjeqe526plbf1g8mklp59enfd789njgi"],
    ["ns1.example", "2t7b4g4vsa5smi47k61mv5bv1a22bojr"],
    ["ns2.example", "q04jkcevqvmu85r014c7dkba38o0ji5r"],
    ["w.example", "k8udemvp1j2f7eg6jebps17vp3n8i58h"],
    ["*.w.example", "r53bq7cc2uvmubfu5ocmm6pers9tk9en"],
    ["x.w.example", "b4um86eghhds6nea196smvmlo4ors995"],
    ["y.w.example", "ji6neoaepv8b5o6k4ev33abha8ht9fgc"],
    ["x.y.w.example", "2vptu5timamqttgl4luu9kg21e0aor3s"],
    ["xx.example", "t644ebqk9bibcna874givr6joj62mlhv"],
    ["2t7b4g4vsa5smi47k61mv5bv1a22bojr.example", "kohar7mbb8dc2ce8a9qvl8hon4k53uhi"],
  ])("appendix A: the hash of %s", (owner, hash) => {
    expect(hashName(name(owner), 12, "aabbccdd")).toBe(hash);
  });

  // Every name next to an opt-out range can have an unsigned neighbour, so the answer is not secure (section 9.2).
  it.each([
    ["B.1 name error", "a.c.x.w.example", "MX", "insecure", "nsec3", "opt-out range"],
    ["B.4 wildcard", "a.z.w.example", "MX", "insecure", "nsec3", "opt-out range"],
    ["appendix A", "*.w.example", "MX", "secure", null, "Signed by example"],
    ["appendix A", "2t7b4g4vsa5smi47k61mv5bv1a22bojr.example", "A", "secure", null, "Signed by example"],
    ["appendix A", "example", "NSEC3PARAM", "secure", null, "Signed by example"],
    ["B.2 no data at the apex", "example", "TXT", "secure", "nsec3", "has no record of this type"],
  ])("%s: %s %s is %s", (_section, owner, type, status, denial, reason) => {
    const verdict = validateIn([zone], { name: owner, type }, options);
    expect(verdict.reasons.join("\n")).toContain(reason);
    expect(verdict).toMatchObject({ status, denial });
  });
});

type Example = readonly [
  rfc: string,
  zone: string,
  key: string,
  ds: string | null,
  owner: string,
  record: string,
  signature: string,
];

const EXAMPLES: readonly Example[] = [
  [
    "RFC 5702 section 6.1, RSASHA256",
    "example.net",
    "256 3 8 AwEAAcFcGsaxxdgiuuGmCkVImy4h99CqT7jwY3pexPGcnUFtR2Fh36BponcwtkZ4cAgtvd4Qs8PkxUdp6p/DlUmObdk=",
    null,
    "www.example.net",
    "A 192.0.2.91",
    "A 8 3 3600 20300101000000 20000101000000 9033 example.net. kRCOH6u7l0QGy9qpC9l1sLncJcOKFLJ7GhiUOibu4teYp5VE9RncriShZNz85mwlMgNEacFYK/lPtPiVYP4bwg==",
  ],
  [
    "RFC 5702 section 6.2, RSASHA512",
    "example.net",
    "256 3 10 AwEAAdHoNTOW+et86KuJOWRDp1pndvwb6Y83nSVXXyLA3DLroROUkN6X0O6pnWnjJQujX/AyhqFDxj13tOnD9u/1kTg7cV6rklMrZDtJCQ5PCl/D7QNPsgVsMu1J2Q8gpMpztNFLpPBz1bWXjDtaR7ZQBlZ3PFY12ZTSncorffcGmhOL",
    null,
    "www.example.net",
    "A 192.0.2.91",
    "A 10 3 3600 20300101000000 20000101000000 3740 example.net. tsb4wnjRUDnB1BUi+t6TMTXThjVnG+eCkWqjvvjhzQL1d0YRoOe0CbxrVDYd0xDtsuJRaeUw1ep94PzEWzr0iGYgZBWm/zpq+9fOuagYJRfDqfReKBzMweOLDiNa8iP5g9vMhpuv6OPlvpXwm9Sa9ZXIbNl1MBGk0fthPgxdDLw=",
  ],
  [
    "RFC 6605 section 6.1, ECDSAP256SHA256",
    "example.net",
    "257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
    "55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17",
    "www.example.net",
    "A 192.0.2.1",
    "A 13 3 3600 20100909100439 20100812100439 55648 example.net. qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==",
  ],
  [
    "RFC 6605 section 6.2, ECDSAP384SHA384",
    "example.net",
    "257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40",
    "10771 14 4 72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6",
    "www.example.net",
    "A 192.0.2.1",
    "A 14 3 3600 20100909102025 20100812102025 10771 example.net. /L5hDKIvGDyI1fcARX3z65qrmPsVz73QD1Mr5CEqOiLP95hxQouuroGCeZOvzFaxsT8Glr74hbavRKayJNuydCuzWTSSPdz7wnqXL5bdcJzusdnI0RSMROxxwGipWcJm",
  ],
  [
    "RFC 8080 section 6.1 with erratum 4935, ED25519",
    "example.com",
    "257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
    "3613 15 2 3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b",
    "example.com",
    "MX 10 mail.example.com.",
    "MX 15 2 3600 1440021600 1438207200 3613 example.com. oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==",
  ],
  [
    "RFC 8080 section 6.2 with erratum 4935, ED448",
    "example.com",
    "257 3 16 3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA",
    "9713 16 2 6ccf18d5bc5d7fc2fceb1d59d17321402f2aa8d368048db93dd811f5cb2b19c7",
    "example.com",
    "MX 10 mail.example.com.",
    "MX 16 2 3600 1440021600 1438207200 9713 example.com. 3cPAHkmlnxcDHMyg7vFC34l0blBhuG1qpwLmjInI8w1CMB29FkEAIJUA0amxWndkmnBZ6SKiwZSAxGILn/NBtOXft0+Gj7FSvOKxE/07+4RQvE581N3Aj/JtIyaiYVdnYtyMWbSNyGEY2213WKsJlwEA",
  ],
];

describe("published keys and signatures", () => {
  it.each(EXAMPLES)("%s", (_rfc, zone, keyText, ds, owner, recordText, signature) => {
    const [type = "", ...data] = recordText.split(" ");
    const record = makeDnsRecord(owner, type, data.join(" "));
    const rrsig = makeDnsRecord(owner, "RRSIG", signature);
    const [set] = groupRrsets([record, rrsig]);
    const key = readKey(makeDnsRecord(zone, "DNSKEY", keyText).raw);
    if (set === undefined) throw new Error("no RRset");
    const now = Number(rrsig.typed["inception"]) + 60;
    const check = (of: typeof set) => verifyRrset({ now, effort: new Effort() }, of, name(zone), [key]);
    expect(check(set)).toMatchObject({ ok: true, wildcard: null });
    const changed = { ...set, records: [makeDnsRecord(owner, type, data.join(" ").replace(/\d(?=\D*$)/, "7"))] };
    expect(check(changed)).toMatchObject({ ok: false });
    const digest = ds === null ? null : readDs(makeDnsRecord(zone, "DS", ds).raw);
    if (digest !== null) expect(matchesDs(name(zone), key, digest)).toBe(true);
  });

  it("RFC 4034 section 6.1: the canonical order of names", () => {
    const ordered = [
      "example",
      "a.example",
      "yljkjljk.a.example",
      "Z.a.example",
      "zABC.a.EXAMPLE",
      "z.example",
      "\\001.z.example",
      "*.z.example",
      "\\200.z.example",
    ];
    expect(
      ordered
        .toReversed()
        .map(name)
        .toSorted(compareNames)
        .map(({ text }) => text),
    ).toEqual(ordered.map((text) => text.toLowerCase()));
  });
});
