/** How far clocks may differ. */
const SKEW_MS = 5 * 60_000;

/**
 * Whether status information holds now (RFC 6960 section 4.2.2.1, RFC 5280 section 5.1.2.5): null, or what is wrong.
 * Without nextUpdate it holds for so many milliseconds.
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
