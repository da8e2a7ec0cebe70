import { OLD_GROUPS, TLS13_GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { SIGNAL, strengthOf, SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites-read.ts";
import type { ClientHello } from "#probe-agent/port/tls.ts";

/** A protocol version. */
export interface Version {
  /** Node's name. */
  readonly name: "SSLv3" | "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
  /** Field of the result. */
  readonly key: "ssl3" | "tls1_0" | "tls1_1" | "tls1_2" | "tls1_3";
  /** Name in messages. */
  readonly label: string;
  /** Number on the wire. */
  readonly wire: number;
}

/** All versions, oldest first. */
export const VERSIONS: readonly Version[] = [
  { name: "SSLv3", key: "ssl3", label: "SSL 3", wire: 0x0300 },
  { name: "TLSv1", key: "tls1_0", label: "TLS 1.0", wire: 0x0301 },
  { name: "TLSv1.1", key: "tls1_1", label: "TLS 1.1", wire: 0x0302 },
  { name: "TLSv1.2", key: "tls1_2", label: "TLS 1.2", wire: 0x0303 },
  { name: "TLSv1.3", key: "tls1_3", label: "TLS 1.3", wire: 0x0304 },
];

/** Number of the renegotiation_info extension (RFC 5746). */
export const EXTENSION_RENEGOTIATION_INFO = 0xff01;

const TLS12 = 0x0303;
const TLS13 = 0x0304;

/** All signature schemes that a certificate's key can have, common ones first (IANA, TLS SignatureScheme). */
const SIGNATURE_ALGORITHMS = [
  0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0603, 0x0806, 0x0601, 0x0807, 0x0808, 0x0809, 0x080a, 0x080b,
  0x081a, 0x081b, 0x081c, 0x0904, 0x0905, 0x0906, 0x0708, 0x0303, 0x0301, 0x0203, 0x0201, 0x0402, 0x0302, 0x0202,
];

/** Lists of suites that are tried in parallel. Each list has suites of one type. */
interface Lanes {
  /** Suites that web servers use. */
  readonly common: readonly (readonly number[])[];
  /** Suites that only registries and test servers have: anonymous, shared keys, fixed Diffie-Hellman, GOST. */
  readonly rare: readonly number[];
}

const lanesOf = new Map<Version["name"], Lanes>();

/** Returns the suites that can be used with a version. */
export function suiteLanes(version: Version): Lanes {
  const known = lanesOf.get(version.name) ?? makeLanes(version);
  lanesOf.set(version.name, known);
  return known;
}

function makeLanes({ wire }: Version): Lanes {
  const usable = [...SUITES.values()].filter((suite) =>
    suite.tls13 ? wire === TLS13 : wire === TLS12 || (wire < TLS12 && !suite.tls12),
  );
  const withCertificate = (suite: Suite): boolean =>
    suite.auth === "RSA" || suite.auth === "ECDSA" || suite.auth === "DSS";
  const lane = (test: (suite: Suite) => boolean): number[] => usable.filter(test).map(({ code }) => code);
  const common = [
    lane(({ tls13 }) => tls13),
    lane((suite) => suite.kx === "ECDHE" && suite.aead && withCertificate(suite)),
    lane((suite) => suite.kx === "ECDHE" && !suite.aead && withCertificate(suite)),
    lane((suite) => suite.kx === "DHE" && withCertificate(suite)),
    lane(({ kx, auth }) => kx === "RSA" && auth === "RSA"),
  ].filter(({ length }) => length > 0);
  const taken = new Set(common.flat());
  return { common, rare: lane(({ code }) => !taken.has(code)) };
}

/** Returns the most common suites of each type, for servers that accept only a short ClientHello. */
export function fewSuites(version: Version): number[] {
  const { common } = suiteLanes(version);
  return version.wire === TLS13 ? [0x1301, 0x1302, 0x1303] : common.flat().filter((code) => FEW.has(code));
}

const FEW: ReadonlySet<number> = new Set([
  0xc02f, 0xc02b, 0xc030, 0xc02c, 0xcca8, 0xcca9, 0x009e, 0x009f, 0xc027, 0xc023, 0xc028, 0xc024, 0xc013, 0xc009,
  0xc014, 0xc00a, 0x0033, 0x0039, 0x009c, 0x009d, 0x003c, 0x002f, 0x0035, 0x000a, 0x0005,
]);

/**
 * Returns the suites of a version by their most severe weakness: broken (including 3DES), without forward secrecy
 * (`fixed`), or without authenticated encryption (`cbc`).
 */
export function suitesByFault(version: Version): { broken: number[]; fixed: number[]; cbc: number[] } {
  const { common, rare } = suiteLanes(version);
  const all = [...common.flat(), ...rare].flatMap((code) => SUITES.get(code) ?? []);
  const pick = (test: (suite: Suite) => boolean): number[] => all.filter(test).map(({ code }) => code);
  const isBroken = (suite: Suite): boolean => strengthOf(suite) === "broken" || suite.cipher === "3DES";
  return {
    broken: pick(isBroken),
    fixed: pick((suite) => !isBroken(suite) && !suite.forwardSecrecy),
    cbc: pick((suite) => !isBroken(suite) && suite.forwardSecrecy && !suite.aead),
  };
}

/** Creates a full ClientHello for a version with these suites. */
export function helloOf(version: Version, servername: string | null, suites: readonly number[]): ClientHello {
  if (version.wire === TLS13) {
    return {
      version: TLS12,
      supportedVersions: [TLS13],
      servername,
      suites,
      groups: TLS13_GROUPS.flat(),
      keyShares: [0x001d, 0x0017],
      signatureAlgorithms: SIGNATURE_ALGORITHMS,
    };
  }
  return {
    version: version.wire,
    servername,
    suites: [...suites, SIGNAL.renegotiationInfo],
    groups: OLD_GROUPS.flat(),
    usualExtras: true,
    ...(version.wire === TLS12 ? { signatureAlgorithms: SIGNATURE_ALGORITHMS } : {}),
  };
}

/**
 * Creates a short ClientHello for servers that fail on long ones: below 256 octets with a host name of usual length,
 * and only the extensions that are necessary.
 */
export function shortHelloOf(version: Version, servername: string | null, suites: readonly number[]): ClientHello {
  const { usualExtras: _, ...hello } = helloOf(version, servername, suites);
  return {
    ...hello,
    groups: [0x001d, 0x0017, 0x0018],
    ...(hello.keyShares === undefined ? {} : { keyShares: [0x001d] }),
    ...(hello.signatureAlgorithms === undefined ? {} : { signatureAlgorithms: SIGNATURE_ALGORITHMS.slice(0, 9) }),
  };
}
