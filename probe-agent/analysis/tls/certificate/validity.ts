import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

type Dates = Pick<Certificate, "notBefore" | "notAfter">;

/**
 * Returns the milliseconds from the start of the current second to notAfter: 0 during the second of notAfter, negative
 * once the certificate has expired. notAfter is inclusive and has a resolution of one second (RFC 5280 section
 * 4.1.2.5), so the certificate is valid until the end of that second.
 */
export function remainingMs({ notAfter }: Pick<Dates, "notAfter">, now: Date): number {
  return notAfter.getTime() - Math.floor(now.getTime() / 1000) * 1000;
}

/** Reports whether the second of notAfter has passed. */
export function isExpired(certificate: Pick<Dates, "notAfter">, now: Date): boolean {
  return remainingMs(certificate, now) < 0;
}

/** Reports whether notBefore is in the future. */
export function isNotYetValid({ notBefore }: Pick<Dates, "notBefore">, now: Date): boolean {
  return now < notBefore;
}

/** Reports whether the current time is within the certificate's validity period. */
export function isCurrent(certificate: Dates, now: Date): boolean {
  return !isExpired(certificate, now) && !isNotYetValid(certificate, now);
}
