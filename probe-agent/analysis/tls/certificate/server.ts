import { verifyChain, type ChainRequest, type ChainVerification } from "#probe-agent/analysis/tls/certificate.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { accessLocations } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { TRUST_ERRORS } from "#probe-agent/analysis/tls/certificate/policy.ts";

/** Access method caIssuers (RFC 5280 section 4.2.2.1). */
const CA_ISSUERS = "1.3.6.1.5.5.7.48.2";

/**
 * Verifies a server's chain as verifyChain does, but replaces `missing_intermediate` by `untrusted_root` if the
 * certificate has no URL of its issuer's certificate (Authority Information Access). Without the URL, nothing suggests
 * that a known authority issued the certificate.
 */
export function verifyServerChain(request: ChainRequest): ChainVerification {
  const verification = verifyChain(request);
  const [leaf] = verification.path;
  if (leaf === undefined || !verification.errors.includes("missing_intermediate") || hasIssuerUrl(leaf))
    return verification;
  const has = (error: string) =>
    verification.errors.some((other) => other === error && other !== "missing_intermediate");
  return { ...verification, errors: TRUST_ERRORS.filter((error) => error === "untrusted_root" || has(error)) };
}

/** Reports whether the issuer of the server's certificate is unavailable and the certificate is not self-signed. */
export function lacksIssuer({ path, errors }: ChainVerification): boolean {
  return path.length === 1 && errors.some((error) => error === "missing_intermediate" || error === "untrusted_root");
}

function hasIssuerUrl(leaf: Certificate): boolean {
  try {
    return accessLocations(leaf, CA_ISSUERS).length > 0;
  } catch (error) {
    if (error instanceof MalformedDer) return false;
    throw error;
  }
}
