import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { fewSuites, suiteLanes, suitesByFault, VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { strengthOf, SUITES, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { opensslName } from "#probe-agent/tools/ssl/configuration-report.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";

/** Suites as this machine's OpenSSL describes them; null if there is no OpenSSL. */
function opensslSuites(): { code: number; name: string; openssl: string; line: string }[] | null {
  const run = spawnSync("openssl", ["ciphers", "-V", "-stdname", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"], {
    encoding: "utf8",
  });
  if (run.status !== 0) return null;
  return run.stdout
    .trim()
    .split("\n")
    .map((line) => {
      const [code = "", , name = "", , openssl = ""] = line.trim().split(/\s+/);
      return { code: Number.parseInt(code.replaceAll(/0x|,/g, ""), 16), name, openssl, line };
    });
}

const known = opensslSuites();

function suite(code: number): Suite {
  const [found] = suitesOf([code]);
  if (found === undefined) throw new Error(`no suite ${code.toString(16)}`);
  return found;
}

describe("the table of suites", () => {
  it("has every number once, with readable properties", () => {
    expect(SUITES.size).toBe(363);
    for (const { name, bits, code } of SUITES.values()) {
      expect(name).toMatch(/^TLS_[A-Za-z0-9_]+$/);
      expect([0, 40, 56, 112, 128, 256]).toContain(bits);
      expect(code).toBeLessThan(0x10000);
    }
  });

  it.skipIf(known === null)("agrees with OpenSSL on names, encryption, authentication and key exchange", () => {
    for (const { code, name, openssl, line } of known ?? []) {
      const own = suite(code);
      expect([own.name, opensslName(own)], line).toEqual([name, openssl]);
      const bits = /Enc=\S+?\((\d+)\)/.exec(line)?.[1];
      expect(String(own.bits), line).toBe(bits ?? "0");
      expect(own.aead, line).toBe(line.includes("Mac=AEAD"));
      expect(own.auth === "none", line).toBe(line.includes("Au=None"));
      expect(own.forwardSecrecy, line).toBe(/Kx=(any|ECDH|DH|DHEPSK|ECDHEPSK|SRP)\b/.test(line));
    }
  });

  it.each([
    [0x0003, "EXP-RC4-MD5", "RSA", "RSA", 40],
    [0x0005, "RC4-SHA", "RSA", "RSA", 128],
    [0x0006, "EXP-RC2-CBC-MD5", "RSA", "RSA", 40],
    [0x000a, "DES-CBC3-SHA", "RSA", "RSA", 112],
    [0x0016, "DHE-RSA-DES-CBC3-SHA", "DHE", "RSA", 112],
    [0x001f, "KRB5-DES-CBC3-SHA", "KRB5", "KRB5", 112],
    [0x0064, "EXP1024-RC4-SHA", "RSA", "RSA", 56],
    [0x0096, "SEED-SHA", "RSA", "RSA", 128],
    [0xc007, "ECDHE-ECDSA-RC4-SHA", "ECDHE", "ECDSA", 128],
    [0xc016, "AECDH-RC4-SHA", "ECDHE", "none", 128],
    [0xc03c, null, "RSA", "RSA", 128],
    [0xc0b4, null, "any", "any", 0],
    [0xc100, "GOST2012-KUZNYECHIK-KUZNYECHIKOMAC", "GOST", "GOST", 256],
    [0x1306, null, "any", "any", 256],
  ] as const)("knows %i, which OpenSSL called %s", (code, openssl, kx, auth, bits) => {
    expect(opensslName(suite(code))).toBe(openssl);
    expect(suite(code)).toMatchObject({ kx, auth, bits });
  });

  it("grades their strength", () => {
    const judged = (code: number) => strengthOf(suite(code));
    expect([0x1301, 0xc02f, 0xcca8, 0x009e].map(judged)).toEqual(["strong", "strong", "strong", "strong"]);
    expect([0xc013, 0x0033].map(judged)).toEqual(["acceptable", "acceptable"]);
    expect([0x002f, 0x009c, 0x000a, 0xc012].map(judged)).toEqual(["weak", "weak", "weak", "weak"]);
    const broken = [0x0001, 0x0003, 0x0005, 0x0009, 0x0034, 0xc011, 0xc015, 0xc0b4, 0x0064];
    expect(broken.map(judged)).toEqual(broken.map(() => "broken"));
  });
});

describe("the suites offered", () => {
  it("are all suites of a version, once", () => {
    const counts = VERSIONS.map((version) => {
      const { common, rare } = suiteLanes(version);
      const all = [...common.flat(), ...rare];
      expect(new Set(all).size).toBe(all.length);
      return all.length;
    });
    const tls13 = [...SUITES.values()].filter((one) => one.tls13).length;
    expect(counts.slice(3)).toEqual([SUITES.size - tls13, tls13]);
    const old = suitesOf([...suiteLanes(VERSIONS[1]!).common.flat(), ...suiteLanes(VERSIONS[1]!).rare]);
    expect(old.some(({ aead, name }) => aead || (/_SHA(256|384)$/.test(name) && !name.includes("PSK")))).toBe(false);
    expect(counts[0]).toBe(counts[1]);
  });

  it("fit a short hello if necessary", () => {
    for (const version of VERSIONS) expect(fewSuites(version).length).toBeLessThanOrEqual(25);
    expect(fewSuites(VERSIONS[3]!)).toContain(0xc02f);
    expect(fewSuites(VERSIONS[0]!)).not.toContain(0xc02f);
  });

  it("are divided into weaknesses without overlap, and the rest is strong", () => {
    for (const version of VERSIONS) {
      const { broken, fixed, cbc } = suitesByFault(version);
      const faulty = new Set([...broken, ...fixed, ...cbc]);
      expect(faulty.size).toBe(broken.length + fixed.length + cbc.length);
      const { common, rare } = suiteLanes(version);
      const rest = suitesOf([...common.flat(), ...rare].filter((code) => !faulty.has(code)));
      expect(rest.map(strengthOf).every((strength) => strength === "strong")).toBe(true);
    }
  });
});
