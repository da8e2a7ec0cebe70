import { domainToASCII } from "node:url";
import { readEntities, type RdapEntity } from "#probe-agent/analysis/registry/rdap/entity.ts";
import { eventDate } from "#probe-agent/analysis/registry/rdap/events.ts";
import { arrayOf, recordOf, textOf, textsOf } from "#probe-agent/analysis/registry/rdap/json.ts";
import { isRedacted, type WhoisHolder } from "#probe-agent/analysis/registry/whois/holder.ts";
import type { WhoisRegistrar } from "#probe-agent/analysis/registry/whois/registrar.ts";
import type { DelegationSigner } from "#probe-agent/analysis/registry/whois/signing.ts";
import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/** A registered domain (RFC 9083 section 5.3). */
export interface RdapDomain {
  readonly handle: string | null;
  readonly registrar: WhoisRegistrar | null;
  /** In ISO 8601 UTC, like `updated` and `expires`. */
  readonly created: string | null;
  readonly updated: string | null;
  readonly expires: string | null;
  readonly status: readonly string[];
  readonly nameservers: readonly RdapNameserver[];
  readonly dnssec: { readonly signed: boolean | null; readonly ds: readonly DelegationSigner[] };
  readonly holder: WhoisHolder | null;
  /** Names of the fields that the server reports as withheld (RFC 9537). */
  readonly redacted: readonly string[];
  /** URL of the registrar's own RDAP resource for the domain. Null if the registry names none. */
  readonly related: string | null;
  readonly port43: string | null;
}

const MAX_LIST = 64;
const NOBODY: WhoisRegistrar = { name: null, iana_id: null, abuse_email: null, phone: null, url: null };

/** A name server of a domain (RFC 9083 section 5.2). */
interface RdapNameserver {
  /** Host name as A-labels in lower case, without a final dot. */
  readonly host: string;
  /** Glue addresses, IPv4 first. */
  readonly addresses: readonly string[];
}

const MAX_ADDRESSES = 32;
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads the answer to `domain/<name>`. Returns null for errors (section 6), other objects and other domains. */
export function readDomain(value: unknown, name: string): RdapDomain | null {
  const object = recordOf(value);
  if (object === null || object["objectClassName"] !== "domain") return null;
  const stated = textOf(object["ldhName"]) ?? textOf(object["unicodeName"]);
  // Some registries omit the name. An answer with another name is about another domain.
  if (stated !== null && aLabels(stated) !== name) return null;
  const entities = readEntities(object["entities"]);
  const redacted = redactedNames(object["redacted"]);
  return {
    handle: textOf(object["handle"]),
    registrar: registrarOf(entities, object["entities"]),
    created: eventDate(object["events"], "registration"),
    updated: eventDate(object["events"], "last changed"),
    expires: eventDate(object["events"], "expiration"),
    status: textsOf(object["status"], MAX_LIST),
    nameservers: arrayOf(object["nameservers"], MAX_LIST)
      .map((server) => readNameserver(server, aLabels))
      .filter((server) => server !== null),
    dnssec: signingOf(recordOf(object["secureDNS"])),
    holder: holderOf(entities, redacted, object),
    redacted,
    related: relatedOf(object["links"]),
    port43: textOf(object["port43"]),
  };
}

function aLabels(name: string): string {
  return domainToASCII(name.replace(/\.$/, "")).toLowerCase();
}

function registrarOf(entities: readonly RdapEntity[], raw: unknown): WhoisRegistrar | null {
  const registrar = entities.find(({ roles, parent }) => roles.includes("registrar") && parent === null);
  if (registrar === undefined) return null;
  const abuse = entities.find(({ roles, parent }) => roles.includes("abuse") && parent === registrar);
  const read: WhoisRegistrar = {
    name: registrar.organization ?? registrar.name,
    iana_id: registrar.iana_id,
    abuse_email: abuse?.email ?? null,
    phone: abuse?.phone ?? registrar.phone,
    url: registrar.url ?? aboutLink(raw),
  };
  return JSON.stringify(read) === JSON.stringify(NOBODY) ? null : read;
}

/**
 * Returns the URL of the registrar's page: a link "about" of its entity (RFC 9083 section 4.2, RDAP Response Profile of
 * the gTLDs). Null if there is none.
 */
function aboutLink(entities: unknown): string | null {
  const registrar = arrayOf(entities, MAX_LIST)
    .map(recordOf)
    .find((entity) => arrayOf(entity?.["roles"], 20).includes("registrar"));
  const links = arrayOf(registrar?.["links"], 20).map(recordOf);
  const href = textOf(links.find((link) => link?.["rel"] === "about")?.["href"]);
  return href !== null && /^https?:\/\//i.test(href) ? href : null;
}

function signingOf(secure: Readonly<Record<string, unknown>> | null): RdapDomain["dnssec"] {
  const ds = arrayOf(secure?.["dsData"], 16).flatMap((value) => {
    const row = recordOf(value);
    const digest = textOf(row?.["digest"]);
    const [tag, algorithm, type] = [row?.["keyTag"], row?.["algorithm"], row?.["digestType"]].map(numberOf);
    if (digest === null || tag == null || algorithm == null || type == null) return [];
    return [{ key_tag: tag, algorithm, digest_type: type, digest: digest.toUpperCase() }];
  });
  const signed = secure?.["delegationSigned"];
  const hasKeys = ds.length > 0 || arrayOf(secure?.["keyData"], 1).length > 0;
  return { signed: typeof signed === "boolean" ? signed : hasKeys ? true : null, ds };
}

/** Reads a number of at most 65535. Some registries send numbers as text. */
function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,5}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= 65_535 ? number : null;
}

function holderOf(
  entities: readonly RdapEntity[],
  redacted: readonly string[],
  object: Readonly<Record<string, unknown>>,
): WhoisHolder | null {
  const holders = entities.filter(({ roles, parent }) => roles.includes("registrant") && parent === null);
  const names = holders.flatMap(({ organization, name }) => [organization, name]).filter((text) => text !== null);
  const org =
    holders.map(({ organization }) => organization).find((text) => text !== null && !isRedacted(text)) ?? null;
  const country = holders.map((holder) => holder.country).find((text) => text !== null && !isRedacted(text)) ?? null;
  const isWithheld =
    redacted.some((field) => /registrant/i.test(field)) || names.some(isRedacted) || saysRedacted(object);
  return org === null && country === null && !isWithheld ? null : { org, country, redacted: isWithheld };
}

/**
 * Reports whether a remark says that data is withheld. Before RFC 9537, the gTLDs used a remark titled "REDACTED FOR
 * PRIVACY" on the domain or its registrant.
 */
function saysRedacted(object: Readonly<Record<string, unknown>>): boolean {
  const registrants = arrayOf(object["entities"], MAX_LIST)
    .map(recordOf)
    .filter((entity) => arrayOf(entity?.["roles"], 20).includes("registrant"));
  return [object, ...registrants]
    .flatMap((holder) => arrayOf(holder?.["remarks"], 20))
    .some((remark) => isRedacted(textOf(recordOf(remark)?.["title"]) ?? ""));
}

/**
 * Reads the names of withheld fields. RFC 9537 section 4.2: each has a name, either of a registered type or a
 * description.
 */
function redactedNames(value: unknown): string[] {
  return arrayOf(value, MAX_LIST).flatMap((entry) => {
    const name = recordOf(recordOf(entry)?.["name"]);
    return textOf(name?.["type"]) ?? textOf(name?.["description"]) ?? [];
  });
}

function relatedOf(links: unknown): string | null {
  const related = arrayOf(links, 50)
    .map(recordOf)
    .find((link) => link?.["rel"] === "related" && /rdap\+json/.test(textOf(link["type"]) ?? ""));
  const href = textOf(related?.["href"]);
  return href !== null && /^https?:\/\//i.test(href) ? href : null;
}

/**
 * Reads one name server. Returns null for another object, or for one without a usable name. `toAscii` converts an IDN
 * to A-labels.
 */
export function readNameserver(value: unknown, toAscii: (name: string) => string): RdapNameserver | null {
  const object = recordOf(value);
  if (object === null || !["nameserver", undefined].includes(object["objectClassName"] as string | undefined))
    return null;
  const stated = textOf(object["ldhName"]) ?? textOf(object["unicodeName"]);
  const host = stated === null ? "" : toAscii(stated).toLowerCase().replace(/\.$/, "");
  if (host.length > 253 || !HOST.test(host)) return null;
  const addresses = recordOf(object["ipAddresses"]);
  const usable = [...arrayOf(addresses?.["v4"], MAX_ADDRESSES), ...arrayOf(addresses?.["v6"], MAX_ADDRESSES)];
  return { host, addresses: usable.filter((ip) => typeof ip === "string" && readIp(ip) !== null) as string[] };
}
