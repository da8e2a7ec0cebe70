/** Maximum tolerated difference between clocks, in milliseconds. */
const SKEW_MS = 5 * 60_000;

/**
 * Checks the dates of an OCSP response or CRL (RFC 6960 section 4.2.2.1, RFC 5280 section 5.1.2.5). Returns null if it
 * is valid now. Without nextUpdate, it is valid for `withoutNextMs` milliseconds from thisUpdate.
 */
export function updateFault(
  { thisUpdate, nextUpdate }: { readonly thisUpdate: Date; readonly nextUpdate: Date | null },
  now: Date,
  withoutNextMs: number,
): "not_yet_valid" | "stale" | null {
  if (thisUpdate.getTime() > now.getTime() + SKEW_MS) return "not_yet_valid";
  const end = nextUpdate?.getTime() ?? thisUpdate.getTime() + withoutNextMs;
  return end < now.getTime() - SKEW_MS ? "stale" : null;
}
