import type { Static } from "typebox";
import type { dns } from "#shared/tools/dns.ts";
import type { DomainState } from "#control-plane/status-pages/settings/page-settings.ts";

/** Label of the record below the domain. */
const LABEL = "_vantage";

/** The DNS record that proves who has a domain. */
interface DomainRecord {
  readonly name: string;
  readonly type: "TXT";
  readonly value: string;
}

/** Returns the record that verifies the domain of the page with a token. */
export function recordOf(domain: string, token: string): DomainRecord {
  return { name: `${LABEL}.${domain}`, type: "TXT", value: `vantage-page=${token}` };
}

/**
 * Reports whether a result of the tool dns has a TXT record with this value. The record can be behind an alias, as it is
 * where the names of a zone are kept elsewhere.
 */
export function hasRecord({ results }: Pick<Static<typeof dns.result>, "results">, { value }: DomainRecord): boolean {
  return results.some(
    ({ status, records }) => status === "NOERROR" && records.some(({ text }) => text?.trim() === value),
  );
}

/** Time after which a claim without its record has failed, and is looked at less often, in milliseconds. */
const CLAIM_MS = 86_400_000;
/** Time for which only the account that gave up a verified domain can take it, in milliseconds. */
export const HELD_MS = 7 * 86_400_000;
/** Time between two looks, in milliseconds: until the claim has failed, and after it. */
const EVERY_MS = { pending: 600_000, failed: 3_600_000 } as const;

/** State of a domain after a look, and when it is looked at next; null: never. */
export interface DomainAfterLook {
  readonly state: DomainState;
  readonly dueAt: Date | null;
}

/**
 * Decides about a domain after its record was asked for. A verified domain is not asked for again, and stays verified
 * when its record vanishes: people remove records that have done their work, and a page must not go away for that, nor
 * for a DNS server that fails.
 */
export function decideDomain(isProven: boolean, claimedAt: Date, now: Date): DomainAfterLook {
  if (isProven) return { state: "verified", dueAt: null };
  const state = now.getTime() - claimedAt.getTime() < CLAIM_MS ? "pending" : "failed";
  return { state, dueAt: new Date(now.getTime() + EVERY_MS[state]) };
}
