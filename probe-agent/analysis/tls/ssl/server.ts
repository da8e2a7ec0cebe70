import type { ChainVerification } from "#probe-agent/analysis/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { verifyServerChain } from "#probe-agent/analysis/tls/certificate/server.ts";
import type { Sent } from "#probe-agent/analysis/tls/ssl/chain.ts";

/** What a server sent, judged by itself: revocation and the like are asked about afterwards. */
export interface ServerChain {
  readonly sent: readonly Sent[];
  readonly leaf: Certificate;
  readonly verification: ChainVerification;
  /** Who signed the leaf; null where that certificate is not at hand, or is the leaf itself. */
  readonly issuer: Certificate | null;
  /** The path ends in a root that is trusted. */
  readonly anchored: boolean;
}

/** What a chain is judged by. */
export interface ChainTerms {
  readonly host: string;
  readonly roots: readonly Uint8Array[];
  readonly now: Date;
}

/** Reads and judges the certificates sent; null where there is no first one that can be read. */
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
