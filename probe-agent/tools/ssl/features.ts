import { SIGNAL, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { EXTENSION_RENEGOTIATION_INFO } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { Prober } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** A version with the suites that the server accepts. */
export interface VersionSuites {
  readonly seen: VersionSeen;
  readonly suites: readonly number[];
}

const INAPPROPRIATE_FALLBACK_ALERT = 86;
/** Compression methods: DEFLATE (RFC 3749), LZS (RFC 3943), none. */
const COMPRESSIONS = [1, 64, 0];

/** Reports whether the server compresses before it encrypts (CRIME, CVE-2012-4929); null if it did not answer. */
export async function probeCompression(prober: Prober, { seen, suites }: VersionSuites): Promise<boolean | null> {
  const hello = helloFor(seen, prober.servername, suites);
  const answer = await prober.ask({ ...hello, compression: COMPRESSIONS });
  return answer.kind === "hello" ? answer.hello.compression !== 0 : null;
}

/** Reports whether the server supports RFC 5746, from its ServerHello up to TLS 1.2; null without a ServerHello. */
export function supportsSecureRenegotiation({ seen }: VersionSuites): boolean | null {
  return seen.hello === null ? null : seen.hello.extensions.includes(EXTENSION_RENEGOTIATION_INFO);
}

/**
 * Reports whether the server refuses a client that signals a fallback to a lower version (RFC 7507); null if unknown.
 */
export async function probeFallback(prober: Prober, { seen, suites }: VersionSuites): Promise<boolean | null> {
  const answer = await prober.ask(helloFor(seen, prober.servername, [...suites, SIGNAL.fallback]));
  if (answer.kind === "hello") return false;
  return answer.kind === "refused" && answer.alert === INAPPROPRIATE_FALLBACK_ALERT ? true : null;
}

/**
 * Returns the size in bits of the smallest Diffie-Hellman prime, for export suites and others; null if none was seen.
 */
export async function probeSmallestPrime(prober: Prober, { seen, suites }: VersionSuites): Promise<number | null> {
  const ephemeral = suitesOf(suites).filter(({ kx }) => kx === "DHE");
  const kinds = [ephemeral.filter((suite) => suite.exportGrade), ephemeral.filter((suite) => !suite.exportGrade)];
  const sizes = await Promise.all(
    kinds.map(async (kind) => {
      if (kind.length === 0) return [];
      const codes = kind.map(({ code }) => code);
      const answer = await prober.ask(helloFor(seen, prober.servername, codes), true);
      return answer.kind === "hello" && answer.hello.primeBits !== null ? [answer.hello.primeBits] : [];
    }),
  );
  const seenSizes = sizes.flat();
  return seenSizes.length === 0 ? null : Math.min(...seenSizes);
}
