import { finding } from "#probe-agent/analysis/text/findings.ts";
import { listFirst } from "#shared/text/list.ts";
import { HSTS_SIX_MONTHS, parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { SslDraft } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { strengthOf, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";

/** Minimum size of primes in bits (RFC 9325 section 4.1). */
const MIN_PRIME = 2048;
/** Minimum size of curves in bits, for a strength of 112 bits (NIST SP 800-57 part 1). */
const MIN_CURVE = 224;
/** Maximum number of suites or groups named in one message. */
const NAMED = 3;

/** Finds weaknesses in versions, cipher suites, groups and HSTS. */
export function configurationFindings(configuration: Configuration, hsts: HstsSeen): SslDraft[] {
  const suites = [...new Set(suitesOf(configuration.suites.flatMap(({ codes }) => codes)))];
  return [
    ...versionFindings(configuration),
    ...suiteFindings(suites),
    ...exchangeFindings(configuration),
    ...hstsFindings(hsts),
  ];
}

function versionFindings({ versions }: Configuration): SslDraft[] {
  const offered = new Map(versions.map((seen) => [seen.version.key, seen.offered]));
  const found = versions.flatMap(({ version, offered: isOffered }) => {
    if (isOffered !== true || version.key === "tls1_2" || version.key === "tls1_3") return [];
    const broken = version.key === "ssl3";
    const why = broken ? "it is broken (RFC 7568)" : "it is deprecated (RFC 8996)";
    const message = `The server offers ${version.label}; ${why}.`;
    return [finding("old-protocol", version.key, message, broken ? "critical" : "warning")];
  });
  if (offered.get("tls1_2") === false && offered.get("tls1_3") === false) {
    const message = "The server offers neither TLS 1.2 nor TLS 1.3; current clients cannot connect.";
    return [finding("no-modern-protocol", null, message), ...found];
  }
  const none = offered.get("tls1_3") === false;
  return none ? [...found, finding("no-tls1-3", null, "The server does not offer TLS 1.3.")] : found;
}

function suiteFindings(suites: readonly Suite[]): SslDraft[] {
  if (suites.length === 0) return [];
  const broken = suites.filter((suite) => strengthOf(suite) === "broken");
  const open = broken.some(isOpen);
  const smallBlocks = suites.filter((suite) => strengthOf(suite) === "weak" && suite.forwardSecrecy);
  const staticKeys = suites.filter((suite) => strengthOf(suite) === "weak" && !suite.forwardSecrecy);
  const noForwardSecrecy = !suites.some(({ forwardSecrecy }) => forwardSecrecy);
  return [
    ...named("broken-cipher", "The server offers broken cipher suites", broken, open ? "critical" : "warning"),
    ...named("weak-cipher", "The server offers cipher suites with 64-bit blocks (Sweet32)", smallBlocks),
    ...(noForwardSecrecy
      ? [
          finding(
            "no-forward-secrecy",
            null,
            "No cipher suite has forward secrecy: anyone with the leaked key can decrypt recorded traffic.",
          ),
        ]
      : named("static-key-exchange", "The server offers cipher suites without forward secrecy", staticKeys)),
    ...(suites.some(({ aead }) => aead)
      ? []
      : [finding("no-aead", null, "No cipher suite has authenticated encryption.")]),
  ];
}

/**
 * Reports whether an attacker can read or change traffic with a suite: it has fewer than 112 bits, is export grade, or
 * does not authenticate the server.
 */
export function isOpen({ bits, auth, exportGrade }: Suite): boolean {
  return bits < 112 || auth === "none" || exportGrade;
}

function exchangeFindings(configuration: Configuration): SslDraft[] {
  const { primeBits, groups, compression, secureRenegotiation, fallbackScsv } = configuration;
  const weakGroups = [...new Set(groups.flatMap(({ codes }) => codes))].flatMap((code) => {
    const group = GROUPS.get(code);
    return group !== undefined && group.bits !== null && group.bits < MIN_CURVE ? [group.name] : [];
  });
  const prime = `The server uses a Diffie-Hellman prime of ${primeBits} bits; below ${MIN_PRIME} it is weak (Logjam).`;
  return [
    ...(primeBits !== null && primeBits < MIN_PRIME
      ? [finding("weak-dh", null, prime, primeBits < 1024 ? "critical" : "warning")]
      : []),
    ...(weakGroups.length > 0
      ? [finding("weak-group", null, `The server offers weak groups: ${listFirst(weakGroups, NAMED)}.`)]
      : []),
    ...(compression === true
      ? [finding("compression", null, "The server offers TLS compression, which reveals secrets (CRIME).")]
      : []),
    ...(secureRenegotiation === false
      ? [finding("no-secure-renegotiation", null, "The server does not support secure renegotiation (RFC 5746).")]
      : []),
    ...(fallbackScsv === false
      ? [
          finding(
            "no-fallback-scsv",
            null,
            "The server accepts clients that were forced to a lower version (RFC 7507, TLS_FALLBACK_SCSV).",
          ),
        ]
      : []),
  ];
}

function hstsFindings(hsts: HstsSeen): SslDraft[] {
  if (hsts.kind === "absent") {
    return [finding("no-hsts", null, "The server does not send a Strict-Transport-Security header.")];
  }
  if (hsts.kind !== "sent") return [];
  const { maxAge } = parseHsts(hsts.value);
  if (maxAge === null) return [finding("no-hsts", null, "The Strict-Transport-Security header cannot be read.")];
  const message = "The max-age of Strict-Transport-Security is less than six months.";
  return maxAge < HSTS_SIX_MONTHS ? [finding("short-hsts", null, message)] : [];
}

function named(
  id: SslDraft["id"],
  what: string,
  suites: readonly Suite[],
  severity?: SslDraft["severity"],
): SslDraft[] {
  if (suites.length === 0) return [];
  const names = suites.map(({ name }) => name);
  return [finding(id, null, `${what}: ${listFirst(names, NAMED)}.`, severity)];
}
