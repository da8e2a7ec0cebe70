import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

type Dates = Pick<Certificate, "notBefore" | "notAfter">;

/**
 * Milliseconds from the second of `now` to notAfter; 0 in notAfter's own second, negative once the certificate has expired.
 * RFC 5280 section 4.1.2.5: notAfter is inclusive and knows whole seconds only, so its second counts to the end.
 */
export function remainingMs({ notAfter }: Pick<Dates, "notAfter">, now: Date): number {
  return notAfter.getTime() - Math.floor(now.getTime() / 1000) * 1000;
}

/** Whether notAfter's second is over. */
export function isExpired(certificate: Pick<Dates, "notAfter">, now: Date): boolean {
  return remainingMs(certificate, now) < 0;
}

/** Whether notBefore is still to come. */
export function isNotYetValid({ notBefore }: Pick<Dates, "notBefore">, now: Date): boolean {
  return now < notBefore;
}

/** Whether the certificate is valid now. */
export function isCurrent(certificate: Dates, now: Date): boolean {
  return !isExpired(certificate, now) && !isNotYetValid(certificate, now);
}
