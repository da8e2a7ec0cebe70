import { parseHsts, HSTS_SIX_MONTHS } from "#probe-agent/analysis/web/security/hsts.ts";
import type { KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { hasSmallBlocks, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";

/** Grades, best first. T and M are outside the scale and override it. */
const GRADES = ["A+", "A", "B", "C", "D", "E", "F", "M", "T"] as const;

/** A grade of the SSL Labs scale. */
type SslGrade = (typeof GRADES)[number];

/** An upper limit of the grade. */
interface SslGradeCap {
  readonly grade: "A" | "B" | "C" | "F" | "M" | "T";
  /** Why, in one sentence. */
  readonly reason: string;
}

/** Input of gradeTls. */
export interface GradeFacts {
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  readonly key: KeyFacts;
  readonly chainTrusted: boolean;
  readonly hostnameMatch: boolean;
  /** Codes of trust_error. */
  readonly errors: readonly string[];
  /** Whether a certificate of the chain is signed with MD5 or an older hash. */
  readonly md5: boolean;
  /** Null if revocation was not checked. */
  readonly revocation: "good" | "revoked" | "unknown" | null;
  /** Number of findings that prevent an A+. */
  readonly warnings: number;
}

/** Grade and score. A field is null if it cannot be determined. */
export interface SslGrading {
  readonly grade: SslGrade | null;
  readonly score: number | null;
  readonly scores: Scores | null;
  /** Lowest grade first. */
  readonly caps: readonly SslGradeCap[];
}

const FLOORS = [
  [80, "A"],
  [65, "B"],
  [50, "C"],
  [35, "D"],
  [20, "E"],
] as const;

/**
 * Grades a server by the SSL Labs method (Qualys SSL Server Rating Guide). Unknown values are assumed to be good once
 * and bad once. A field is null if the two results differ.
 */
export function gradeTls(facts: GradeFacts): SslGrading {
  const best = evaluate(facts, true);
  const worst = evaluate(facts, false);
  const same = JSON.stringify(best.scores) === JSON.stringify(worst.scores);
  return {
    grade: best.grade === worst.grade ? best.grade : null,
    score: best.score === worst.score ? best.score : null,
    scores: same ? best.scores : null,
    caps: best.caps,
  };
}

function evaluate(facts: GradeFacts, unknownIsGood: boolean): SslGrading {
  const { configuration } = facts;
  const versions = configuration.versions.flatMap(({ version, offered }) =>
    (offered ?? isModern(version.key) === unknownIsGood) ? [version.key] : [],
  );
  const incomplete = configuration.suites.some(({ complete }) => !complete);
  const known = configuration.suites.flatMap(({ codes }) => suitesOf(codes));
  const suites = incomplete && !unknownIsGood ? [...known, ...suitesOf([WORST_SUITE])] : known;
  const groups = configuration.groups.flatMap(({ codes }) => codes);
  const scores = scoreParts({ versions, suites, groups, key: facts.key, primeBits: configuration.primeBits });
  const caps = [
    ...trustCaps(facts),
    ...suiteCaps(configuration, suites),
    ...configurationCaps(facts, versions, unknownIsGood),
    ...(scores !== null && scores.key_exchange <= 80 ? [cap("B", "The key exchange is weak.")] : []),
  ].toSorted((one, other) => GRADES.indexOf(other.grade) - GRADES.indexOf(one.grade));
  if (scores === null) return { grade: gradeWithoutScore(caps), score: null, scores, caps };
  const score = totalScore(scores);
  const scored: SslGrade = FLOORS.find(([floor]) => score >= floor)?.[1] ?? "F";
  const isPerfect = scored === "A" && caps.length === 0 && facts.warnings === 0;
  return { grade: isPerfect ? "A+" : worse(scored, caps[0]?.grade), score, scores, caps };
}

/** A suite without encryption and authentication, assumed in the unknown part of an incomplete list of suites. */
const WORST_SUITE = 0xc015;

/** Returns the grade without a score: only a fault of trust or name decides it. */
function gradeWithoutScore([first]: readonly SslGradeCap[]): SslGrade | null {
  return first?.grade === "T" || first?.grade === "M" ? first.grade : null;
}

function worse(one: SslGrade, other: SslGrade | undefined): SslGrade {
  return other === undefined || GRADES.indexOf(one) >= GRADES.indexOf(other) ? one : other;
}

function cap(grade: SslGradeCap["grade"], reason: string): SslGradeCap {
  return { grade, reason };
}

function isModern(key: Version["key"]): boolean {
  return key === "tls1_2" || key === "tls1_3";
}

function trustCaps({ chainTrusted, hostnameMatch, errors, md5, revocation }: GradeFacts): SslGradeCap[] {
  const faults = errors.filter((error) => error !== "hostname_mismatch").map((error) => error.replaceAll("_", " "));
  return [
    ...(chainTrusted ? [] : [cap("T", `The certificate is not trusted: ${faults.join(", ") || "no valid chain"}.`)]),
    ...(revocation === "revoked" ? [cap("T", "The certificate is revoked.")] : []),
    ...(hostnameMatch ? [] : [cap("M", "The certificate does not match the host name.")]),
    ...(md5 ? [cap("F", "A certificate of the chain is signed with MD5 or an older hash.")] : []),
  ];
}

function suiteCaps({ suites: seen }: Configuration, suites: readonly Suite[]): SslGradeCap[] {
  const some = (test: (suite: Suite) => boolean): boolean => suites.some(test);
  const smallBlocks = seen.some(
    ({ version, codes }) => version.wire >= 0x0302 && suitesOf(codes).some((suite) => hasSmallBlocks(suite)),
  );
  return [
    ...(some(({ bits }) => bits === 0) ? [cap("F", "The server offers cipher suites without encryption.")] : []),
    ...(some(({ exportGrade }) => exportGrade) ? [cap("F", "The server offers export cipher suites.")] : []),
    ...(some(({ auth }) => auth === "none") ? [cap("F", "The server offers anonymous cipher suites.")] : []),
    ...(some(({ bits, exportGrade }) => bits > 0 && bits < 112 && !exportGrade)
      ? [cap("F", "The server offers cipher suites with fewer than 112 bits.")]
      : []),
    ...(smallBlocks ? [cap("C", "The server offers ciphers with 64-bit blocks with TLS 1.1 or newer (Sweet32).")] : []),
    ...(some(({ cipher }) => cipher === "RC4") ? [cap("B", "The server offers RC4.")] : []),
    ...(suites.length > 0 && !some(({ aead }) => aead)
      ? [cap("B", "The server offers no authenticated encryption.")]
      : []),
    ...(suites.length > 0 && !some(({ forwardSecrecy }) => forwardSecrecy)
      ? [cap("B", "The server offers no forward secrecy.")]
      : []),
  ];
}

function configurationCaps(
  { configuration, hsts }: GradeFacts,
  versions: readonly Version["key"][],
  unknownIsGood: boolean,
): SslGradeCap[] {
  const { primeBits, compression, secureRenegotiation, fallbackScsv } = configuration;
  const old = configuration.versions.filter(({ version }) => !isModern(version.key) && versions.includes(version.key));
  return [
    ...(primeBits !== null && primeBits < 1024
      ? [cap("F", "The server uses a Diffie-Hellman prime below 1024 bits.")]
      : []),
    ...(versions.some(isModern) ? [] : [cap("C", "The server offers neither TLS 1.2 nor TLS 1.3.")]),
    ...((compression ?? !unknownIsGood) ? [cap("C", "The server offers TLS compression (CRIME).")] : []),
    ...old.map(({ version }) => cap("B", `The server offers ${version.label}.`)),
    ...(secureRenegotiation === false
      ? [cap("A", "The server does not support secure renegotiation (RFC 5746).")]
      : []),
    ...(fallbackScsv === false
      ? [cap("A", "The server accepts clients that were forced to a lower version (TLS_FALLBACK_SCSV).")]
      : []),
    ...hstsCaps(hsts),
  ];
}

/** Caps by HSTS. Unknown HSTS prevents an A+. */
function hstsCaps(hsts: HstsSeen): SslGradeCap[] {
  if (hsts.kind === "not_applicable") return [];
  if (hsts.kind === "unknown") return [cap("A", "Whether the server sends HSTS could not be determined.")];
  if (hsts.kind === "absent") return [cap("A", "The server does not send HSTS.")];
  const { maxAge } = parseHsts(hsts.value);
  if (maxAge === null) return [cap("A", "The HSTS header cannot be read.")];
  return maxAge < HSTS_SIX_MONTHS ? [cap("A", "The max-age of HSTS is less than six months.")] : [];
}

/** The parts of the score, each 0 to 100. */
interface Scores {
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
