import type { ResultOf } from "#shared/tools/define.ts";
import type { whois as contract } from "#shared/tools/whois/contract.ts";
import type { RdapDomain } from "#probe-agent/analysis/registry/rdap/domain.ts";
import type { WhoisRecord } from "#probe-agent/tools/whois/parse.ts";
import { isPrivacyService } from "#probe-agent/analysis/registry/whois/holder.ts";

type Result = ResultOf<typeof contract>;

/** Fields of a result that describe a domain's registration. */
export type DomainRegistration = Pick<
  Result,
  | "registrar"
  | "created"
  | "updated"
  | "expires"
  | "status"
  | "nameservers"
  | "dnssec"
  | "registrant"
  | "registry_domain_id"
  | "redacted_fields"
>;

/** Facts of a name that nobody holds or that no answer describes. */
export const NO_REGISTRATION: DomainRegistration = {
  registrar: null,
  created: null,
  updated: null,
  expires: null,
  status: [],
  nameservers: [],
  dnssec: { signed: null, ds: [] },
  registrant: null,
  registry_domain_id: null,
  redacted_fields: [],
};

/** Reads the facts of an RDAP answer. */
export function readRdapRegistration(domain: RdapDomain): DomainRegistration {
  return {
    registrar: domain.registrar && { ...domain.registrar },
    created: domain.created,
    updated: domain.updated,
    expires: domain.expires,
    status: [...domain.status],
    nameservers: [...new Set(domain.nameservers.map(({ host }) => host))],
    dnssec: { signed: domain.dnssec.signed, ds: domain.dnssec.ds.map((row) => ({ ...row })) },
    registrant: domain.holder && { ...domain.holder },
    registry_domain_id: domain.handle,
    redacted_fields: [...domain.redacted],
  };
}

/** Reads the facts of a WHOIS answer. */
export function readWhoisRegistration(record: WhoisRecord): DomainRegistration {
  return {
    registrar: record.registrar && { ...record.registrar },
    created: record.created,
    updated: record.updated,
    expires: record.expires,
    status: record.status,
    nameservers: record.nameservers,
    dnssec: { signed: record.dnssec.signed, ds: record.dnssec.ds.map((row) => ({ ...row })) },
    registrant: record.holder && { ...record.holder },
    registry_domain_id: record.registry_domain_id,
    redacted_fields: [],
  };
}

/** Merges the facts: the registry's, and the registrar's if the registry has none. */
export function mergeRegistrations(registry: DomainRegistration, registrar: DomainRegistration): DomainRegistration {
  const [own, other] = [registry.registrar, registrar.registrar];
  return {
    registrar:
      own === null || other === null
        ? (own ?? other)
        : {
            name: own.name ?? other.name,
            iana_id: own.iana_id ?? other.iana_id,
            abuse_email: own.abuse_email ?? other.abuse_email,
            phone: own.phone ?? other.phone,
            url: own.url ?? other.url,
          },
    created: registry.created ?? registrar.created,
    updated: registry.updated ?? registrar.updated,
    expires: registry.expires ?? registrar.expires,
    status: registry.status.length > 0 ? registry.status : registrar.status,
    nameservers: registry.nameservers.length > 0 ? registry.nameservers : registrar.nameservers,
    dnssec: registry.dnssec.signed === null ? registrar.dnssec : registry.dnssec,
    registrant:
      registry.registrant === null || registrar.registrant === null
        ? (registry.registrant ?? registrar.registrant)
        : {
            org: registry.registrant.org ?? registrar.registrant.org,
            country: registry.registrant.country ?? registrar.registrant.country,
            redacted: registry.registrant.redacted || registrar.registrant.redacted,
          },
    registry_domain_id: registry.registry_domain_id ?? registrar.registry_domain_id,
    redacted_fields: [...new Set([...registry.redacted_fields, ...registrar.redacted_fields])],
  };
}

/** Reports whether the holder is hidden. Null if the answer does not mention a holder. */
export function privacyOf({ registrant }: DomainRegistration): boolean | null {
  if (registrant === null) return null;
  return registrant.redacted || (registrant.org !== null && isPrivacyService(registrant.org));
}

const DAY_MS = 86_400_000;

/** Returns the whole days until an instant, rounded down. Null without one. */
export function daysLeft(expires: string | null, now: Date): number | null {
  return expires === null ? null : Math.floor((Date.parse(expires) - now.getTime()) / DAY_MS);
}
