import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import type { Configuration, HstsSeen, GroupsSeen, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { strengthOf, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";

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

type CipherRow = NonNullable<Result["ciphers"]>[number];
type GroupRow = NonNullable<Result["groups"]>[number];

const STRENGTHS = ["strong", "acceptable", "weak", "broken"] as const;

/** OpenSSL names that follow no rule (ssl.h, tls1.h of OpenSSL 0.9.8 to 3.5). */
const IRREGULAR: Readonly<Record<string, string>> = {
  TLS_ECDHE_RSA_WITH_ARIA_128_GCM_SHA256: "ECDHE-ARIA128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_ARIA_256_GCM_SHA384: "ECDHE-ARIA256-GCM-SHA384",
  TLS_GOSTR341001_WITH_28147_CNT_IMIT: "GOST2001-GOST89-GOST89",
  TLS_GOSTR341001_WITH_NULL_GOSTR3411: "GOST2001-NULL-GOST94",
  TLS_GOSTR341094_WITH_28147_CNT_IMIT: "GOST94-GOST89-GOST89",
  TLS_GOSTR341094_WITH_NULL_GOSTR3411: "GOST94-NULL-GOST94",
  TLS_GOSTR341112_256_WITH_28147_CNT_IMIT: "IANA-GOST2012-GOST8912-GOST8912",
  TLS_GOSTR341112_256_WITH_KUZNYECHIK_CTR_OMAC: "GOST2012-KUZNYECHIK-KUZNYECHIKOMAC",
  TLS_GOSTR341112_256_WITH_MAGMA_CTR_OMAC: "GOST2012-MAGMA-MAGMAOMAC",
};

/** Registered suites that no version of OpenSSL has. */
const NEVER = /_OLD$|_ECCPWD_|ARIA_\d+_CBC|CAMELLIA_\d+_GCM|ECDHE_PSK_WITH_AES_\d+_(GCM|CCM)/;
const FIXED_DH = /_(?:EC)?DH_/;
const TLS13 = /^TLS_(AES_|CHACHA20_)/;

/**
 * Returns the result's rows of suites: newest version first, within a version in the server's order, or the strongest
 * first if that order is unknown.
 */
function cipherRows(seen: readonly SuitesSeen[]): CipherRow[] {
  return seen.toReversed().flatMap(({ version, codes, ranked }) => {
    const suites = suitesOf(codes);
    return (ranked ? suites : strongestFirst(suites)).map((suite) => cipherRow(version.name, suite));
  });
}

function strongestFirst(suites: readonly Suite[]): Suite[] {
  const rank = (suite: Suite): number => STRENGTHS.indexOf(strengthOf(suite));
  return suites.toSorted((one, other) => rank(one) - rank(other) || other.bits - one.bits || one.code - other.code);
}

function cipherRow(protocol: string, suite: Suite): CipherRow {
  return {
    protocol,
    iana_name: suite.name,
    openssl_name: opensslName(suite),
    code: hexadecimal(suite.code),
    bits: suite.bits,
    kx: suite.kx,
    auth: suite.auth,
    forward_secrecy: suite.forwardSecrecy,
    aead: suite.aead,
    strength: strengthOf(suite),
  };
}

/**
 * Returns the result's rows of groups: each group once, with its versions, in the order in which the server chose them.
 */
function groupRows(seen: readonly GroupsSeen[]): GroupRow[] {
  const codes = [...new Set(seen.flatMap((one) => one.codes))];
  return codes.flatMap((code) => {
    const group = GROUPS.get(code);
    if (group === undefined) return [];
    const protocols = seen.filter((one) => one.codes.includes(code)).map(({ version }) => version.name);
    return [
      { name: group.name, code: hexadecimal(code), bits: group.bits, post_quantum: group.postQuantum, protocols },
    ];
  });
}

function hexadecimal(code: number): string {
  return `0x${code.toString(16).padStart(4, "0")}`;
}

/** Returns the name in OpenSSL; null for suites that OpenSSL never had. */
export function opensslName({ name, tls13 }: Suite): string | null {
  if (IRREGULAR[name] !== undefined) return IRREGULAR[name];
  if (tls13) return TLS13.test(name) ? name : null;
  if (NEVER.test(name) || name.includes("GOST")) return null;
  if (FIXED_DH.test(name) && name.includes("_ARIA")) return null;
  const [keys = "", protection = ""] = name.slice("TLS_".length).split("_WITH_");
  return keysName(keys) + protectionName(protection, keys);
}

function keysName(keys: string): string {
  const plain = keys
    .replace(/_EXPORT(1024)?$/, "")
    .replace("PSK_DHE", "DHE_PSK")
    .replace("ECDH_anon", "AECDH")
    .replace("DH_anon", "ADH")
    .replace("SRP_SHA", "SRP")
    .replaceAll("_", "-");
  const prefix = keys.endsWith("EXPORT1024") ? "EXP1024-" : keys.endsWith("EXPORT") ? "EXP-" : "";
  return `${prefix}${plain === "RSA" ? "" : `${plain}-`}`;
}

function protectionName(protection: string, keys: string): string {
  if (protection.startsWith("CHACHA20")) return "CHACHA20-POLY1305";
  // PSK and SRP suites were added later, and their names are closer to the registered ones.
  const spelled = /PSK|SRP/.test(keys);
  const dashed = protection
    .replace("3DES_EDE_CBC", spelled ? "3DES-EDE-CBC" : "DES-CBC3")
    .replace(/^DES40_CBC/, "DES-CBC")
    .replace(/^(RC4|RC2_CBC|DES_CBC)_\d+/, "$1")
    .replace("CCM_8", "CCM8")
    .replaceAll("_", "-");
  if (keys.startsWith("SRP")) return dashed;
  const short = dashed.replace(/^(AES|CAMELLIA|ARIA)-(\d+)/, "$1$2");
  if (keys.includes("PSK")) return short.replace(/^(CAMELLIA\d+)-CBC/, "$1");
  return short.replace(/^(AES\d+|CAMELLIA\d+|SEED)-CBC/, "$1");
}
