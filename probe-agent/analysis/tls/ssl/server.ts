import type { ChainVerification } from "#probe-agent/analysis/tls/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import type { Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";

/** Certificates that a server sent, parsed and verified. Revocation is checked separately. */
export interface ServerChain {
  readonly sent: readonly Sent[];
  readonly leaf: Certificate;
  readonly verification: ChainVerification;
  /** Certificate of the leaf's issuer; null if it is unavailable or the leaf itself. */
  readonly issuer: Certificate | null;
  /** Whether the path ends in a trusted root. */
  readonly anchored: boolean;
}

/** Host, roots and time that a chain is verified with. */
export interface ChainTerms {
  readonly host: string;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Parses and verifies the certificates sent. Returns null if there is none or the first one cannot be parsed. */
export function readServerChain(ders: readonly Uint8Array[], { host, roots, now }: ChainTerms): ServerChain | null {
  const sent: Sent[] = ders.map(parseCertificate);
  const [leaf, ...others] = sent;
  if (!leaf) return null;
  const intermediates = others.flatMap((certificate) => (certificate ? [certificate.der] : []));
  const verification = verifyServerChain({ leaf: leaf.der, intermediates, roots, host, now });
  return {
    sent,
    leaf,
    verification,
    issuer: verification.path[1] ?? null,
    anchored: verification.anchored,
  };
}
