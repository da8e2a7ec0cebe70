import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { cipherRows, groupRows } from "#probe-agent/analysis/tls/ssl/ciphers.ts";
import type { Configuration, HstsSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";

type Result = ResultOf<typeof ssl>;

/** Fields of the result about the configuration. */
type ConfigurationFields = Pick<
  Result,
  | "protocols"
  | "ciphers"
  | "cipher_order"
  | "groups"
  | "dh_bits"
  | "compression"
  | "secure_renegotiation"
  | "fallback_scsv"
  | "connections"
>;

/** Maximum number of characters of the header in the result. */
const MAX_VALUE = 300;

/** Returns the result's fields about the configuration. */
export function reportConfiguration(configuration: Configuration): ConfigurationFields {
  const { versions, suites, groups, primeBits, compression, secureRenegotiation, fallbackScsv } = configuration;
  const protocols = Object.fromEntries(versions.map(({ version, offered }) => [version.key, offered]));
  const ciphers = cipherRows(suites);
  const rows = groupRows(groups);
  const newestFirst = suites.toReversed();
  const older = newestFirst.filter(({ version }) => version.key !== "tls1_3");
  return {
    protocols: protocols as Result["protocols"],
    ciphers: ciphers.length === 0 ? null : ciphers,
    cipher_order: [...older, ...newestFirst].find(({ order }) => order !== null)?.order ?? null,
    groups: rows.length === 0 ? null : rows,
    dh_bits: primeBits,
    compression,
    secure_renegotiation: secureRenegotiation,
    fallback_scsv: fallbackScsv,
    connections: configuration.connections,
  };
}

/** Returns the result's field about the header; null if it does not apply or is unknown. */
export function reportHsts(hsts: HstsSeen): Result["hsts"] {
  if (hsts.kind === "absent") {
    return { present: false, value: null, max_age_s: null, include_subdomains: false, preload: false };
  }
  if (hsts.kind !== "sent") return null;
  const { maxAge, includeSubDomains, preload } = parseHsts(hsts.value);
  return {
    present: maxAge !== null,
    value: hsts.value.slice(0, MAX_VALUE),
    max_age_s: maxAge,
    include_subdomains: includeSubDomains,
    preload,
  };
}

/** Returns one sentence for each part of the configuration that could not be determined. */
export function configurationLimits(facts: {
  readonly configuration: Configuration;
  readonly hsts: HstsSeen;
  readonly httpAlpn: readonly string[] | null;
  readonly otherSent: readonly Uint8Array[] | null;
}): string[] {
  const { configuration, hsts } = facts;
  const { versions, suites, groups } = configuration;
  const unknown = versions.filter(({ offered }) => offered === null);
  const unfinished = suites.filter(({ complete }) => !complete);
  const unranked = suites.filter(({ order, ranked }) => order === "server" && !ranked);
  return [
    ...unknown.map(
      ({ version }) =>
        `Whether ${version.label} is offered could not be determined: the server did not answer in time.`,
    ),
    ...(configuration.stoppedAnswering ? ["The server stopped answering before the check was complete."] : []),
    ...unfinished.map(
      ({ version }) => `The cipher suites of ${version.label} are not all listed: the server stopped answering.`,
    ),
    ...unranked.map(
      ({ version }) =>
        `The server's order of preference for cipher suites of ${version.label} could not be determined.`,
    ),
    ...groups
      .filter(({ complete }) => !complete)
      .map(({ version }) => `The groups of ${version.label} are not all listed: the server stopped answering.`),
    ...(hsts.kind === "unknown" || hsts.kind === "not_applicable" ? [hsts.why] : []),
    ...(facts.httpAlpn === null ? ["Which HTTP versions the server accepts by ALPN could not be determined."] : []),
    ...(facts.otherSent === null
      ? ["Whether the server has certificates with other types of keys could not be determined."]
      : []),
  ];
}
