import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import type { GroupsSeen, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { strengthOf, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites/read.ts";

type Result = ResultOf<typeof ssl>;
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
export function cipherRows(seen: readonly SuitesSeen[]): CipherRow[] {
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
export function groupRows(seen: readonly GroupsSeen[]): GroupRow[] {
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
