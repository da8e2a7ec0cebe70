import { EPHEMERAL_NAMES, TLS13_NAMES } from "#probe-agent/analysis/tls/ssl/suites-names-ephemeral.ts";
import { OTHER_NAMES } from "#probe-agent/analysis/tls/ssl/suites-names-other.ts";
import { STATIC_NAMES } from "#probe-agent/analysis/tls/ssl/suites-names-static.ts";
import { readSuite, type Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";

/** Signals in the list of suites of a ClientHello (RFC 5746 section 3.3, RFC 7507 section 2). */
export const SIGNAL = { renegotiationInfo: 0x00ff, fallback: 0x5600 } as const;

/** Strength of a suite: see `strengthOf`. */
type Strength = "strong" | "acceptable" | "weak" | "broken";

/** All registered suites by number. */
export const SUITES: ReadonlyMap<number, Suite> = new Map(
  [...read(TLS13_NAMES, true), ...read(EPHEMERAL_NAMES), ...read(STATIC_NAMES), ...read(OTHER_NAMES)].map((suite) => [
    suite.code,
    suite,
  ]),
);

function read(names: string, tls13 = false): Suite[] {
  const lines = names.trim().split("\n");
  return lines.map((line) => readSuite(Number.parseInt(line.slice(0, 4), 16), line.slice(5), tls13));
}

/** Returns the suites with these numbers; omits unknown numbers. */
export function suitesOf(codes: readonly number[]): Suite[] {
  return codes.flatMap((code) => SUITES.get(code) ?? []);
}

/**
 * Grades a suite. broken: an attacker can read or change traffic today, because of no encryption, no authentication,
 * fewer than 112 bits, export grade, or RC4 (RFC 7465). weak: 64-bit blocks (Sweet32) or no forward secrecy (RFC 9325
 * section 4.1). acceptable: forward secrecy with CBC. strong: forward secrecy and authenticated encryption.
 */
export function strengthOf(suite: Suite): Strength {
  if (suite.bits < 112 || suite.auth === "none" || suite.exportGrade || suite.cipher === "RC4") return "broken";
  if (hasSmallBlocks(suite) || !suite.forwardSecrecy) return "weak";
  return suite.aead ? "strong" : "acceptable";
}

/** Reports whether a cipher has 64-bit blocks: 3DES, DES, IDEA, RC2 (CVE-2016-2183). */
export function hasSmallBlocks({ cipher }: Suite): boolean {
  return cipher === "3DES" || cipher === "DES" || cipher === "IDEA" || cipher === "RC2";
}
