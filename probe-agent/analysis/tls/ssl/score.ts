import type { KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import type { Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites/read.ts";

/** The parts of the score, each 0 to 100. */
export interface Scores {
  readonly protocol: number;
  readonly key_exchange: number;
  readonly cipher: number;
}

/** Input of scoreParts. */
interface ScoreFacts {
  readonly versions: readonly Version["key"][];
  readonly suites: readonly Suite[];
  /** Numbers of all groups accepted. */
  readonly groups: readonly number[];
  readonly key: KeyFacts;
  readonly primeBits: number | null;
}

/** Points for each version (SSL Labs, Server Rating Guide, table 3). */
const VERSION_POINTS: Readonly<Record<Version["key"], number>> = {
  ssl3: 80,
  tls1_0: 90,
  tls1_1: 95,
  tls1_2: 100,
  tls1_3: 100,
};
/** Points of RSA and Diffie-Hellman keys below each size in bits (table 4). */
const MODULUS_POINTS = [
  [512, 20],
  [1024, 40],
  [2048, 80],
  [4096, 90],
] as const;
/** Points of elliptic curves below each size in bits, at the same strength as MODULUS_POINTS. */
const CURVE_POINTS = [
  [110, 20],
  [123, 40],
  [163, 80],
  [225, 90],
] as const;
/** Points of ciphers below each strength in bits (table 5). */
const CIPHER_POINTS = [
  [1, 0],
  [128, 20],
  [256, 80],
] as const;
const EXPORT_POINTS = 40;

/** Scores the three parts. Returns null if no version or no suite is known. */
export function scoreParts(facts: ScoreFacts): Scores | null {
  if (facts.versions.length === 0 || facts.suites.length === 0) return null;
  return {
    protocol: middle(facts.versions.map((key) => VERSION_POINTS[key])),
    key_exchange: Math.min(...keyPoints(facts)),
    cipher: middle(facts.suites.map(({ bits }) => pointsOf(bits, CIPHER_POINTS))),
  };
}

/** Returns 30 % protocol + 30 % key exchange + 40 % cipher, rounded down; 0 if any part is 0. */
export function totalScore({ protocol, key_exchange, cipher }: Scores): number {
  if (protocol === 0 || key_exchange === 0 || cipher === 0) return 0;
  return Math.floor((30 * protocol + 30 * key_exchange + 40 * cipher) / 100);
}

/**
 * Yields the points of every part of the key exchange; the weakest one decides. All groups are scored as curves. The
 * named primes (ffdhe2048 and larger) exceed the curve sizes, so they lose no points: the guide counts only a server's
 * own primes.
 */
function* keyPoints({ key, suites, groups, primeBits }: ScoreFacts): Generator<number> {
  yield 100;
  const onCurve = key.type === "EC" || key.type.startsWith("Ed");
  if (key.bits !== null) yield pointsOf(key.bits, onCurve ? CURVE_POINTS : MODULUS_POINTS);
  if (primeBits !== null) yield pointsOf(primeBits, MODULUS_POINTS);
  if (suites.some(({ auth }) => auth === "none")) yield 0;
  if (suites.some(({ exportGrade }) => exportGrade)) yield EXPORT_POINTS;
  for (const code of groups) {
    const bits = GROUPS.get(code)?.bits ?? null;
    if (bits !== null) yield pointsOf(bits, CURVE_POINTS);
  }
}

function pointsOf(size: number, steps: readonly (readonly [below: number, points: number])[]): number {
  return steps.find(([below]) => size < below)?.[1] ?? 100;
}

/** Returns the mean of the best and the worst, rounded down. */
function middle(points: readonly number[]): number {
  return Math.floor((Math.max(...points) + Math.min(...points)) / 2);
}
