import { describe, expect, it } from "vitest";
import type { Configuration, HstsSeen, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { gradeTls, type GradeFacts, scoreParts, totalScore } from "#probe-agent/tools/ssl/grade.ts";
import { VERSIONS, type Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";

const MODERN = [0xc02b, 0xc02c, 0xcca9];
const LONG: HstsSeen = { kind: "sent", value: "max-age=31536000" };

function version(key: Version["key"]): Version {
  return VERSIONS.find((one) => one.key === key) as Version;
}

function suites(key: Version["key"], codes: readonly number[], complete = true): SuitesSeen {
  return { version: version(key), codes, ranked: true, order: "server", complete };
}

function offering(
  offers: Partial<Record<Version["key"], readonly number[] | null>>,
  change: Partial<Configuration> = {},
): Configuration {
  const offered = (key: Version["key"]): boolean | null =>
    key in offers ? (offers[key] === null ? null : true) : false;
  return {
    versions: VERSIONS.map((one) => ({ version: one, offered: offered(one.key) })),
    suites: VERSIONS.flatMap(({ key }) => (offers[key] ? [suites(key, offers[key])] : [])),
    groups: [{ version: version("tls1_3"), codes: [29, 23, 256], complete: true }],
    primeBits: null,
    compression: false,
    secureRenegotiation: true,
    fallbackScsv: true,
    stoppedAnswering: false,
    connections: 50,
    ...change,
  };
}

const TWO = { tls1_2: MODERN, tls1_3: [0x1301, 0x1302, 0x1303] };
const GOOD: GradeFacts = {
  configuration: offering(TWO),
  hsts: LONG,
  key: { type: "EC", bits: 256, curve: "P-256" },
  chainTrusted: true,
  hostnameMatch: true,
  errors: [],
  md5: false,
  revocation: null,
  warnings: 0,
};

function graded(change: Partial<GradeFacts>) {
  const { grade, score, caps } = gradeTls({ ...GOOD, ...change });
  return [grade, score, caps.map((cap) => cap.grade).join("")] as const;
}

function configured(
  offers: Parameters<typeof offering>[0],
  change: Partial<Configuration> = {},
  facts: Partial<GradeFacts> = {},
) {
  return graded({ ...facts, configuration: offering(offers, change) });
}

describe("the score (SSL Labs, Server Rating Guide)", () => {
  const parts = { versions: ["tls1_2"] as const, suites: [], groups: [], key: GOOD.key, primeBits: null };
  it("is null if there is nothing to score", () => {
    expect(scoreParts(parts)).toBeNull();
  });
  it("weighs the parts 30, 30 and 40, rounds down, and is zero if one part is", () => {
    expect(totalScore({ protocol: 97, key_exchange: 90, cipher: 90 })).toBe(92);
    expect(totalScore({ protocol: 100, key_exchange: 100, cipher: 0 })).toBe(0);
  });
  it.each([
    ["RSA", 511, 20],
    ["RSA", 1023, 40],
    ["RSA", 1024, 80],
    ["RSA", 2048, 90],
    ["RSA", 4096, 100],
    ["EC", 163, 90],
    ["EC", 160, 80],
    ["EC", 224, 90],
    ["EC", 256, 100],
    ["Ed25519", 256, 100],
  ])("gives a key of %s %i bits %i points", (type, bits, points) => {
    const [grade, score] = graded({ key: { type, bits, curve: null } });
    expect(score).toBe(Math.floor((30 * 100 + 30 * points + 40 * 90) / 100));
    expect(grade).toBe(points <= 80 ? "B" : "A+");
  });
  it("uses the weakest of key, prime and curve for the exchange, and the mean of best and worst for the rest", () => {
    expect(gradeTls(GOOD).scores).toEqual({ protocol: 100, key_exchange: 100, cipher: 90 });
    const old = { tls1_0: [0x000a], ...TWO };
    const groups = [{ version: version("tls1_2"), codes: [15], complete: true }];
    const worse = gradeTls({ ...GOOD, configuration: offering(old, { groups, primeBits: 2048 }) });
    expect(worse.scores).toEqual({ protocol: 95, key_exchange: 80, cipher: 60 });
  });
});

describe("the grade", () => {
  it("is A+ without caps and warnings, A with a warning", () => {
    expect(graded({})).toEqual(["A+", 96, ""]);
    expect(graded({ warnings: 1 })).toEqual(["A", 96, ""]);
    expect(graded({ hsts: { kind: "not_applicable", why: "" } })).toEqual(["A+", 96, ""]);
  });

  it.each<[string, Partial<GradeFacts>, string, string]>([
    ["not trusted", { chainTrusted: false, errors: ["expired"] }, "T", "T"],
    ["revoked", { revocation: "revoked" }, "T", "T"],
    ["for other names", { hostnameMatch: false, errors: ["hostname_mismatch"] }, "M", "M"],
    [
      "not trusted and for other names",
      { hostnameMatch: false, chainTrusted: false, errors: ["self_signed"] },
      "T",
      "TM",
    ],
    ["signed with MD5", { md5: true }, "F", "F"],
    ["without HSTS", { hsts: { kind: "absent" } }, "A", "A"],
    ["with HSTS for a day", { hsts: { kind: "sent", value: "max-age=86400" } }, "A", "A"],
    ["with unreadable HSTS", { hsts: { kind: "sent", value: "yes" } }, "A", "A"],
    ["with unknown HSTS", { hsts: { kind: "unknown", why: "" } }, "A", "A"],
    ["that is known not to be revoked", { revocation: "good" }, "A+", ""],
  ])("of a certificate or site %s", (_what, change, grade, caps) => {
    expect(graded(change)).toEqual([grade, 96, caps]);
  });

  it.each<[string, Parameters<typeof offering>[0], Partial<Configuration>, string, string]>([
    ["SSL 3", { ssl3: MODERN, ...TWO }, {}, "B", "B"],
    ["TLS 1.0 and 1.1", { tls1_0: MODERN, tls1_1: MODERN, ...TWO }, {}, "B", "BB"],
    ["nothing modern", { tls1_0: [0xc013] }, {}, "C", "CBB"],
    ["RC4", { tls1_2: [...MODERN, 0xc011] }, {}, "B", "B"],
    ["3DES with TLS 1.2", { tls1_2: [...MODERN, 0xc012] }, {}, "C", "C"],
    ["3DES with TLS 1.0 alone", { tls1_0: [0xc012], ...TWO }, {}, "B", "B"],
    ["no forward secrecy", { tls1_2: [0x009c] }, {}, "B", "B"],
    ["no authenticated encryption", { tls1_2: [0xc027] }, {}, "B", "B"],
    ["DES", { tls1_2: [...MODERN, 0x0009] }, {}, "F", "FC"],
    ["export", { tls1_2: [...MODERN, 0x0003] }, {}, "F", "FB"],
    ["no encryption", { tls1_2: [...MODERN, 0x0002] }, {}, "F", "F"],
    ["anonymous suites", { tls1_2: [...MODERN, 0xc018] }, {}, "F", "FB"],
    ["a prime of 1024 bits", TWO, { primeBits: 1024 }, "B", "B"],
    ["a prime of 768 bits", TWO, { primeBits: 768 }, "F", "FB"],
    ["compression", TWO, { compression: true }, "C", "C"],
    ["old renegotiation", TWO, { secureRenegotiation: false }, "A", "A"],
    ["no TLS_FALLBACK_SCSV", TWO, { fallbackScsv: false }, "A", "A"],
  ])("of a server with %s", (_what, offers, change, grade, caps) => {
    const [is, , found] = configured(offers, change);
    expect([is, found]).toEqual([grade, caps]);
  });

  it("falls with the score too", () => {
    const key = { type: "RSA", bits: 1000, curve: null };
    expect(configured({ tls1_2: [0x000a] }, {}, { key }).slice(0, 2)).toEqual(["C", 50]);
    expect(configured({ tls1_2: [0xc02b, 0x0002] })[1]).toBe(76);
    expect(configured({ tls1_2: [0x0002] })).toEqual(["F", 0, "FBB"]);
  });
});

describe("an unknown value", () => {
  it("makes the grade unknown if it could change the grade", () => {
    expect(configured({ tls1_0: null, ...TWO })).toEqual([null, null, ""]);
    expect(graded({ configuration: offering(TWO, { suites: [suites("tls1_2", MODERN, false)] }) })[0]).toBeNull();
    expect(configured(TWO, { compression: null })).toEqual([null, 96, ""]);
    expect(configured({ tls1_3: null, tls1_2: MODERN })).toEqual(["A+", 96, ""]);
  });

  it("leaves a grade that is the same in both cases", () => {
    expect(configured({ tls1_0: null, tls1_1: MODERN, ...TWO }, {}, { warnings: 1 })[0]).toBe("B");
    const partial = offering(TWO, { suites: [suites("tls1_2", [0x0003], false)] });
    expect(graded({ configuration: partial })[0]).toBe("F");
    expect(configured({ ssl3: null, tls1_2: null }, {}, { chainTrusted: false, errors: ["expired"] })).toEqual([
      "T",
      null,
      "T",
    ]);
  });

  it("leaves no grade but that of trust if no suite is known", () => {
    expect(configured({})[0]).toBeNull();
    expect(configured({}, {}, { hostnameMatch: false })[0]).toBe("M");
  });
});
