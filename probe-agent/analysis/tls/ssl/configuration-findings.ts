import { HSTS_SIX_MONTHS, parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import type { FindingDraft } from "#probe-agent/analysis/tls/ssl/finding-kinds.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { strengthOf, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites/read.ts";

/** Smallest sizes that are not weak: RFC 9325 section 4.1 (primes), NIST SP 800-57 part 1 (curves, 112 bits). */
const MIN_PRIME = 2048;
const MIN_CURVE = 224;
/** Suites named in one message. */
const NAMED = 3;

/** What in versions, suites and groups deserves attention. */
export function configurationFindings(configuration: Configuration, hsts: HstsSeen): FindingDraft[] {
  const suites = [...new Set(suitesOf(configuration.suites.flatMap(({ codes }) => codes)))];
  return [
    ...versionFindings(configuration),
    ...suiteFindings(suites),
    ...exchangeFindings(configuration),
    ...hstsFindings(hsts),
  ];
}

function versionFindings({ versions }: Configuration): FindingDraft[] {
  const offered = new Map(versions.map((seen) => [seen.version.key, seen.offered]));
  const found = versions.flatMap(({ version, offered: isOffered }) => {
    if (isOffered !== true || version.key === "tls1_2" || version.key === "tls1_3") return [];
    const broken = version.key === "ssl3";
    const why = broken ? "it is broken (RFC 7568)" : "it is deprecated (RFC 8996)";
    const message = `${version.label} is offered; ${why}.`;
    return [{ ...entry("old-protocol", broken ? "critical" : "warning", message), where: version.key }];
  });
  if (offered.get("tls1_2") === false && offered.get("tls1_3") === false) {
    const message = "Neither TLS 1.2 nor TLS 1.3 is offered; today's clients cannot connect.";
    return [entry("no-modern-protocol", "critical", message), ...found];
  }
  const none = offered.get("tls1_3") === false;
  return none ? [...found, entry("no-tls1-3", "info", "TLS 1.3 is not offered.")] : found;
}

function suiteFindings(suites: readonly Suite[]): FindingDraft[] {
  if (suites.length === 0) return [];
  const broken = suites.filter((suite) => strengthOf(suite) === "broken");
  const open = broken.some(isOpen);
  const small = suites.filter((suite) => strengthOf(suite) === "weak" && suite.forwardSecrecy);
  const fixed = suites.filter((suite) => strengthOf(suite) === "weak" && !suite.forwardSecrecy);
  const noForwardSecrecy = !suites.some(({ forwardSecrecy }) => forwardSecrecy);
  return [
    ...named("broken-cipher", open ? "critical" : "warning", "Broken cipher suites are offered", broken),
    ...named("weak-cipher", "warning", "Suites with 64-bit blocks are offered (Sweet32)", small),
    ...(noForwardSecrecy
      ? [entry("no-forward-secrecy", "warning", "No suite has forward secrecy: a leaked key opens recorded traffic.")]
      : named("static-key-exchange", "info", "Suites without forward secrecy are offered", fixed)),
    ...(suites.some(({ aead }) => aead) ? [] : [entry("no-aead", "warning", "No suite has authenticated encryption.")]),
  ];
}

/** Whether an attacker can read or change what a suite protects: fewer than 112 bits, export grade, or no proof of identity. */
export function isOpen({ bits, auth, exportGrade }: Suite): boolean {
  return bits < 112 || auth === "none" || exportGrade;
}

function exchangeFindings(configuration: Configuration): FindingDraft[] {
  const { primeBits, groups, compression, secureRenegotiation, fallbackScsv } = configuration;
  const weakGroups = [...new Set(groups.flatMap(({ codes }) => codes))].flatMap((code) => {
    const group = GROUPS.get(code);
    return group !== undefined && group.bits !== null && group.bits < MIN_CURVE ? [group.name] : [];
  });
  const prime = `Diffie-Hellman primes of ${primeBits} bits are used; fewer than ${MIN_PRIME} are weak (Logjam).`;
  return [
    ...(primeBits !== null && primeBits < MIN_PRIME
      ? [entry("weak-dh", primeBits < 1024 ? "critical" : "warning", prime)]
      : []),
    ...(weakGroups.length > 0 ? [entry("weak-group", "warning", `Weak groups are offered: ${some(weakGroups)}.`)] : []),
    ...(compression === true
      ? [entry("compression", "warning", "TLS compression is offered; it gives secrets away (CRIME).")]
      : []),
    ...(secureRenegotiation === false
      ? [entry("no-secure-renegotiation", "warning", "Secure renegotiation (RFC 5746) is missing.")]
      : []),
    ...(fallbackScsv === false
      ? [entry("no-fallback-scsv", "info", "Clients pushed to a lower version are not refused (RFC 7507).")]
      : []),
  ];
}

function hstsFindings(hsts: HstsSeen): FindingDraft[] {
  if (hsts.kind === "absent") return [entry("no-hsts", "info", "No Strict-Transport-Security header is sent.")];
  if (hsts.kind !== "sent") return [];
  const { maxAge } = parseHsts(hsts.value);
  if (maxAge === null) return [entry("no-hsts", "info", "The Strict-Transport-Security header cannot be read.")];
  const message = "Strict-Transport-Security lasts less than six months.";
  return maxAge < HSTS_SIX_MONTHS ? [entry("short-hsts", "info", message)] : [];
}

function named(id: FindingDraft["id"], severity: FindingDraft["severity"], what: string, suites: readonly Suite[]): FindingDraft[] {
  return suites.length === 0 ? [] : [entry(id, severity, `${what}: ${some(suites.map(({ name }) => name))}.`)];
}

function some(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function entry(id: FindingDraft["id"], severity: FindingDraft["severity"], message: string): FindingDraft {
  return { id, severity, message };
}
