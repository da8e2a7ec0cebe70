import type { Queryable } from "#control-plane/database/connect.ts";
import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import { daysLeft } from "#control-plane/expiry/notices/thresholds.ts";
import { readTargets } from "#control-plane/expiry/shown/store.ts";
import type { ExpiryFacts } from "#control-plane/monitors/ports.ts";

/** Reads what is known about the certificates and registrations of monitors, with one statement. */
export async function readExpiryFacts(
  sql: Queryable,
  monitorIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, ExpiryFacts>> {
  const shown = new Map<number, ExpiryFacts>();
  for (const row of await readTargets(sql, monitorIds)) {
    if (row.facts === null || row.lookedAt === null) continue;
    const known = shown.get(row.monitorId) ?? { certificate: null, domain: null };
    const looked_at = row.lookedAt.toISOString();
    if (row.kind === "certificate") {
      const facts = JSON.parse(row.facts) as CertificateFacts;
      const certificate = {
        issuer: facts.issuer,
        subject: facts.subject,
        fingerprint_sha256: facts.fingerprint,
        not_before: facts.notBefore,
        not_after: facts.notAfter,
        days_left: daysLeft(Date.parse(facts.notAfter), now.getTime()),
        trusted: facts.trusted,
        trust_error: facts.trustError,
        looked_at,
        chain_changed_at: row.changedAt?.toISOString() ?? null,
      };
      shown.set(row.monitorId, { ...known, certificate });
    } else {
      const { registrar, expires, status } = JSON.parse(row.facts) as RegistrationFacts;
      const days_left = expires === null ? null : daysLeft(Date.parse(expires), now.getTime());
      const domain = { name: row.target, registrar, expires_at: expires, days_left, status, looked_at };
      shown.set(row.monitorId, { ...known, domain });
    }
  }
  return shown;
}
