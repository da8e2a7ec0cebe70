import { isSameOctets } from "#shared/text/same-octets.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** Reports whether issuer and subject are the same name (RFC 5280 section 3.2: self-issued). */
export function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return isSameOctets(subject, issuer);
}
