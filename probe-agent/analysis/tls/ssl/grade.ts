import { parseHsts, HSTS_SIX_MONTHS } from "#probe-agent/analysis/web/security/hsts.ts";
import type { KeyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { scoreParts, totalScore, type Scores } from "#probe-agent/analysis/tls/ssl/score.ts";
import { hasSmallBlocks, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites/read.ts";

/** Best first; T and M stand beside the scale and win over it. */
const GRADES = ["A+", "A", "B", "C", "D", "E", "F", "M", "T"] as const;

/** A grade of the SSL Labs scale. */
type SslGrade = (typeof GRADES)[number];

/** The best grade that is left, and why. */
interface SslGradeCap {
  readonly grade: "A" | "B" | "C" | "F" | "M" | "T";
  readonly reason: string;
}

/** What the grade is made of. */
export interface GradeFacts {
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  readonly key: KeyFacts;
  readonly chainTrusted: boolean;
  readonly hostnameMatch: boolean;
  /** Words of trust_error. */
  readonly errors: readonly string[];
  /** A certificate of the chain is signed with MD5 or an older hash. */
  readonly md5: boolean;
  /** Null where it was not asked about. */
  readonly revocation: "good" | "revoked" | "unknown" | null;
  /** Warnings that keep an A from becoming an A+. */
  readonly warnings: number;
}

/** The grade; null for what cannot be known. */
export interface SslGrading {
  readonly grade: SslGrade | null;
  readonly score: number | null;
  readonly scores: Scores | null;
  /** The hardest first. */
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
 * Grades by the SSL Labs method (Qualys SSL Server Rating Guide). What is not known is taken once for good and once for
 * bad: where both come to the same, that is the answer, else it is null.
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
  if (scores === null) return { grade: unscored(caps), score: null, scores, caps };
  const score = totalScore(scores);
  const plain: SslGrade = FLOORS.find(([floor]) => score >= floor)?.[1] ?? "F";
  const spotless = plain === "A" && caps.length === 0 && facts.warnings === 0;
  return { grade: spotless ? "A+" : worse(plain, caps[0]?.grade), score, scores, caps };
}

/** A suite without encryption and proof of identity: what might stand in the part of a list that was not seen. */
const WORST_SUITE = 0xc015;

/** Trust decides without a score. */
function unscored([first]: readonly SslGradeCap[]): SslGrade | null {
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
    ...(hostnameMatch ? [] : [cap("M", "The certificate is for other names.")]),
    ...(md5 ? [cap("F", "A certificate of the chain is signed with MD5 or an older hash.")] : []),
  ];
}

function suiteCaps({ suites: seen }: Configuration, suites: readonly Suite[]): SslGradeCap[] {
  const some = (test: (suite: Suite) => boolean): boolean => suites.some(test);
  const smallBlocks = seen.some(
    ({ version, codes }) => version.wire >= 0x0302 && suitesOf(codes).some((suite) => hasSmallBlocks(suite)),
  );
  return [
    ...(some(({ bits }) => bits === 0) ? [cap("F", "Suites without encryption are offered.")] : []),
    ...(some(({ exportGrade }) => exportGrade) ? [cap("F", "Export suites are offered.")] : []),
    ...(some(({ auth }) => auth === "none") ? [cap("F", "Anonymous suites are offered.")] : []),
    ...(some(({ bits, exportGrade }) => bits > 0 && bits < 112 && !exportGrade)
      ? [cap("F", "Suites below 112 bits are offered.")]
      : []),
    ...(smallBlocks ? [cap("C", "64-bit block ciphers are offered with TLS 1.1 or newer (Sweet32).")] : []),
    ...(some(({ cipher }) => cipher === "RC4") ? [cap("B", "RC4 is offered.")] : []),
    ...(suites.length > 0 && !some(({ aead }) => aead) ? [cap("B", "No authenticated encryption is offered.")] : []),
    ...(suites.length > 0 && !some(({ forwardSecrecy }) => forwardSecrecy)
      ? [cap("B", "No forward secrecy is offered.")]
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
    ...(primeBits !== null && primeBits < 1024 ? [cap("F", "Diffie-Hellman primes below 1024 bits are used.")] : []),
    ...(versions.some(isModern) ? [] : [cap("C", "Neither TLS 1.2 nor TLS 1.3 is offered.")]),
    ...((compression ?? !unknownIsGood) ? [cap("C", "TLS compression is offered (CRIME).")] : []),
    ...old.map(({ version }) => cap("B", `${version.label} is offered.`)),
    ...(secureRenegotiation === false ? [cap("A", "Secure renegotiation (RFC 5746) is missing.")] : []),
    ...(fallbackScsv === false ? [cap("A", "Forced fallbacks are not refused (TLS_FALLBACK_SCSV).")] : []),
    ...hstsCaps(hsts),
  ];
}

/** An A+ has to be earned: what could not be seen does not earn it. */
function hstsCaps(hsts: HstsSeen): SslGradeCap[] {
  if (hsts.kind === "not_applicable") return [];
  if (hsts.kind === "unknown") return [cap("A", "Whether HSTS is sent could not be told.")];
  if (hsts.kind === "absent") return [cap("A", "HSTS is missing.")];
  const { maxAge } = parseHsts(hsts.value);
  if (maxAge === null) return [cap("A", "The HSTS header cannot be read.")];
  return maxAge < HSTS_SIX_MONTHS ? [cap("A", "HSTS lasts less than six months.")] : [];
}
