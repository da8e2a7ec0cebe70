import type { Queryable } from "#control-plane/core/database/connect.ts";
import { firstToEnd, type CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { readFound } from "#control-plane/watching/expiry/read/store.ts";

/** When the first certificate of the chain and the registration of a monitor's target expire; null: not watched, or not known. */
interface ExpiryTimes {
  readonly certificate: Date | null;
  readonly domain: Date | null;
}

/** Reads when certificates and registrations of monitors expire, with one statement. Others can be missing. */
export async function readExpiryTimes(
  sql: Queryable,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, ExpiryTimes>> {
  const times = new Map<number, ExpiryTimes>();
  for (const { monitorId, kind, facts } of await readFound(sql, monitorIds)) {
    const known = times.get(monitorId) ?? { certificate: null, domain: null };
    const at = kind === "certificate" ? firstToEnd(JSON.parse(facts) as CertificateFacts).notAfter : expiryOf(facts);
    times.set(monitorId, { ...known, [kind]: at === null ? null : new Date(at) });
  }
  return times;
}

function expiryOf(facts: string): string | null {
  return (JSON.parse(facts) as RegistrationFacts).expires;
}
