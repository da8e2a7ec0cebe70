import { createHash } from "node:crypto";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isDecisive, type RevocationFacts } from "#probe-agent/analysis/tls/ssl/revocation.ts";

/** Time for which the status of a certificate is kept, in milliseconds. */
const KEPT_MS = 3_600_000;
/** Maximum number of chains whose status is kept. One takes a few KB. */
const MOST_KEPT = 1_000;

/** The status of chains by their digest, the oldest first. */
const kept = new Map<string, { readonly facts: RevocationFacts; readonly since: Date }>();

/**
 * Returns whether the certificates of a chain are revoked, as known for at most an hour, so that a frequent check does
 * not ask the authority each time. An answer that says neither good nor revoked is not kept.
 */
export async function keptRevocation(
  chain: readonly (Certificate | null)[],
  now: Date,
  ask: () => Promise<RevocationFacts>,
): Promise<RevocationFacts> {
  const hash = createHash("sha256");
  for (const certificate of chain) if (certificate !== null) hash.update(certificate.der);
  const key = hash.digest("base64");
  const known = kept.get(key);
  const age = known === undefined ? -1 : now.getTime() - known.since.getTime();
  if (known !== undefined && age >= 0 && age < KEPT_MS) return known.facts;
  const facts = await ask();
  kept.delete(key);
  if ([facts.staple, facts.responder?.result ?? null, facts.list?.result ?? null].some(isDecisive)) {
    kept.set(key, { facts, since: now });
    const [first] = kept.keys();
    if (kept.size > MOST_KEPT && first !== undefined) kept.delete(first);
  }
  return facts;
}
