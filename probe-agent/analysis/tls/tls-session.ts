import type { check } from "#shared/tools/check/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { HopTls } from "#probe-agent/port/http.ts";

/** TLS session of a request in the check tool's result. */
type TlsSession = NonNullable<ResultOf<typeof check>["tls"]>;

/** Describes a session with its certificate and the expiry of its chain. Parts that cannot be read are null. */
export function describeSession(
  { protocol, cipher, alpn, authorized, error, chain, path }: HopTls,
  now: Date,
): TlsSession {
  const certificates = readable(chain);
  const [leaf] = certificates;
  return {
    protocol,
    cipher,
    alpn,
    authorized,
    error,
    certificate: leaf === undefined ? null : certificateRow(leaf, now),
    chain_not_after: earliestEnd(certificates),
    path_not_after: earliestEnd(readable(path)),
  };
}

function certificateRow(leaf: Certificate, now: Date): NonNullable<TlsSession["certificate"]> {
  const { subject, issuer, san, fingerprint_sha256, not_before, not_after, days_left } = describeCertificate(leaf, now);
  return { subject, issuer, san, fingerprint_sha256, not_before, not_after, days_left };
}

function readable(ders: readonly Uint8Array[]): readonly Certificate[] {
  return ders.flatMap((der) => parseCertificate(der) ?? []);
}

/** Returns the earliest notAfter in ISO 8601, or null if there are no certificates. */
function earliestEnd(certificates: readonly Certificate[]): string | null {
  const ends = certificates.map(({ notAfter }) => notAfter.getTime());
  return ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString();
}
