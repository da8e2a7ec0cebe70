import type { Redact } from "#shared/text/redact.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { describeRevocation } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import type { Hop, HopTls, PageSnapshot } from "#probe-agent/port/http.ts";
import { keptRevocation } from "#probe-agent/sources/kept-revocation.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";

/** Responses whose certificate is revoked, each with the words for it. */
type RevokedHops = ReadonlyMap<Hop, string>;

/**
 * Time for which a check waits for an authority, in milliseconds. A slower answer is not known to it: certificates are
 * examined in full once a day.
 */
const WAIT_MS = 3_000;
/** Part of the check's time that is kept for its answer, in milliseconds. */
const RESERVE_MS = 300;

/**
 * Finds the responses over a trusted certificate that is known to be revoked. Authorities are asked only if `mayAsk`, and
 * at most once an hour for all checks of this agent. What they do not answer is not known, and no fault.
 */
export async function findRevoked(
  net: Net,
  { hops }: PageSnapshot,
  mayAsk: boolean,
  redact: Redact,
): Promise<RevokedHops> {
  const waitMs = mayAsk ? Math.min(WAIT_MS, net.remainingMs() - RESERVE_MS) : 0;
  const found = await Promise.all(
    hops.map(async (hop) => {
      const words = hop.tls?.authorized === true ? await describeRevoked(net, hop.tls, waitMs, redact) : null;
      return words === null ? [] : [[hop, words] as const];
    }),
  );
  return new Map(found.flat());
}

/** Returns the page with the verdict on its revoked certificates, as the result of the check tool shows it. */
export function markRevoked(page: PageSnapshot, revoked: RevokedHops): PageSnapshot {
  if (revoked.size === 0) return page;
  const mark = (hop: Hop): Hop =>
    hop.tls === null || !revoked.has(hop) ? hop : { ...hop, tls: { ...hop.tls, authorized: false, error: "revoked" } };
  return { ...page, hops: page.hops.map(mark), final: mark(page.final) };
}

async function describeRevoked(net: Net, { path }: HopTls, waitMs: number, redact: Redact): Promise<string | null> {
  const ask = async () => {
    const certificates = path.flatMap((der) => parseCertificate(der) ?? []);
    const [leaf, issuer = null] = certificates;
    if (leaf === undefined) throw new Error("a trusted path has no certificate");
    const chain = { leaf, issuer, anchored: true, verification: { path: certificates } };
    return checkRevocation(net, chain, null, RESERVE_MS);
  };
  const { revoked, revocation } = await keptRevocation(path, { now: net.now(), waitMs, ask });
  return revoked ? describeRevocation(revocation, redact) : null;
}
