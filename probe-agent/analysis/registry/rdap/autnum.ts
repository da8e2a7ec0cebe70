import { abuseEmailOf, organizationOf, readEntities } from "#probe-agent/analysis/registry/rdap/entity.ts";
import { eventDate } from "#probe-agent/analysis/registry/rdap/events.ts";
import { recordOf, textOf, textsOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** A registered AS number, or a range of them (RFC 9083 section 5.5). */
export interface RdapAutnum {
  readonly handle: string | null;
  readonly name: string | null;
  readonly type: string | null;
  readonly start_asn: number;
  readonly end_asn: number;
  /** ISO 3166-1 alpha-2, or a code that the registry uses instead, e.g. EU. */
  readonly country: string | null;
  readonly organization: string | null;
  readonly status: readonly string[];
  /** In ISO 8601 UTC. */
  readonly registered_at: string | null;
  readonly changed_at: string | null;
  readonly abuse_email: string | null;
  /** WHOIS host of the registry. */
  readonly port43: string | null;
}

/**
 * Reads the answer to `autnum/<asn>`. Returns null for errors, for other objects and for ranges that do not contain the
 * number.
 */
export function readAutnum(value: unknown, asn: number): RdapAutnum | null {
  const object = recordOf(value);
  if (object === null || object["objectClassName"] !== "autnum") return null;
  const { startAutnum: start = asn, endAutnum: end = start } = object;
  if (typeof start !== "number" || typeof end !== "number" || !(start <= asn && asn <= end)) return null;
  const entities = readEntities(object["entities"]);
  const country = textOf(object["country"])?.toUpperCase() ?? null;
  return {
    handle: textOf(object["handle"]),
    name: textOf(object["name"]),
    type: textOf(object["type"]),
    start_asn: start,
    end_asn: end,
    country: country !== null && /^[A-Z]{2}$/.test(country) ? country : null,
    organization: organizationOf(entities),
    status: textsOf(object["status"], 20),
    registered_at: eventDate(object["events"], "registration"),
    changed_at: eventDate(object["events"], "last changed"),
    abuse_email: abuseEmailOf(entities),
    port43: textOf(object["port43"]),
  };
}
