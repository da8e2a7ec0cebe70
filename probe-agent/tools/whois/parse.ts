import { HOST_NAME, WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";
import { readHolder, type WhoisHolder } from "#probe-agent/analysis/registry/whois/holder.ts";
import { readWhoisLines, type WhoisEntry } from "#probe-agent/analysis/registry/whois/lines.ts";
import { readRegistrar, type WhoisRegistrar } from "#probe-agent/analysis/registry/whois/registrar.ts";
import {
  registryFormat,
  type NameState,
  type RegistryFormat,
} from "#probe-agent/analysis/registry/whois/registries.ts";
import { readSigning, type WhoisSigning } from "#probe-agent/analysis/registry/whois/signing.ts";
import { readVerdict, type WhoisStatement } from "#probe-agent/analysis/registry/whois/verdict.ts";

/** Data of a WHOIS answer about a domain. A field that the text does not contain is null or empty. */
export interface WhoisRecord {
  /**
   * Null if the answer does not say: a rate limit, a reserved or unassignable name, or an answer that cannot be read.
   */
  readonly registered: boolean | null;
  /** State of the name according to the answer. */
  readonly verdict: "registered" | NonNullable<WhoisStatement> | "unknown";
  /** Domain name that the answer is about, as printed, in lower case. */
  readonly domain: string | null;
  readonly registrar: WhoisRegistrar | null;
  /** In ISO 8601 UTC, like `updated` and `expires`. */
  readonly created: string | null;
  /** Whether the registry knows only that the creation was before `created`. */
  readonly created_before: boolean;
  readonly updated: string | null;
  readonly expires: string | null;
  /** Host names in lower case, without a final dot and without addresses. */
  readonly nameservers: string[];
  /** Status words as printed, without the URL. */
  readonly status: string[];
  readonly dnssec: WhoisSigning;
  readonly holder: WhoisHolder | null;
  readonly registry_domain_id: string | null;
  /** Another server that is said to know more, as printed. */
  readonly referral: string | null;
}

// Size of a registry's full answer. The port has already cut longer texts.
const MAX_TEXT = 262_144;

/**
 * Parses the answer of any registry or registrar about a domain. `server` decides how to read dates such as 03/04/2024.
 */
export function parseWhois(text: string, server: string): WhoisRecord {
  const { entries, prose } = readWhoisLines(text.slice(0, MAX_TEXT));
  const about = new WhoisFields(entries, server).domain();
  const format = registryFormat(server, about);
  // A server known only by its address does not reveal the country. Then the domain in the answer decides.
  const fields = new WhoisFields(toCommonLabels(entries, format), isNamed(server) ? server : (about ?? server), format);
  const created = fields.date("created");
  const updated = fields.date("updated")?.iso ?? null;
  const expires = fields.date("expires")?.iso ?? null;
  const registrar = readRegistrar(fields);
  const nameservers = entries.length === 0 ? bareServers(prose) : fields.nameservers();
  const status = fields.statuses();
  const domain = fields.domain();
  const state = fields.state();
  const facts = [created, updated, expires, registrar].filter((fact) => fact !== null).length + nameservers.length;
  const holds = isHeld(state, { facts: domain === null ? facts - 1 : facts, delegated: nameservers.length > 0 });
  const statement = holds ? null : readVerdict(prose, format);
  // A status alone is enough if nothing contradicts it, e.g. "status: published" of a name without name servers.
  const registered = holds || (statement === null && state === null && domain !== null && status.length > 0);
  const verdict = registered ? "registered" : (state ?? statement ?? "unknown");
  return {
    registered: registered ? true : isFree(verdict) ? false : null,
    verdict,
    domain,
    registrar: registered ? registrar : null,
    created: created?.iso ?? null,
    created_before: created?.before ?? false,
    updated,
    expires,
    nameservers,
    status,
    dnssec: readSigning(fields),
    holder: readHolder(fields),
    registry_domain_id: fields.registryId(),
    referral: fields.referral(),
  };
}

/**
 * Returns the hosts of an answer that has nothing else: each line is a name and a host ("example ns1.example.net").
 * Empty if a line has another name.
 */
function bareServers(prose: readonly string[]): string[] {
  const pairs = prose.map((line) => BARE_SERVER.exec(line)).filter((pair) => pair !== null);
  const names = new Set(pairs.map(([, name = ""]) => name.toLowerCase()));
  const hosts = pairs.flatMap(([, , host = ""]) =>
    HOST_NAME.test(host) ? [host.toLowerCase().replace(/\.$/, "")] : [],
  );
  return names.size === 1 ? [...new Set(hosts)].slice(0, MOST_SERVERS) : [];
}

const BARE_SERVER = /^([a-z0-9][a-z0-9-]{0,62}) ([a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,10}\.?)$/i;
const MOST_SERVERS = 64;

/**
 * Reports whether somebody holds the name. A registry can call a name reserved that it holds itself; such a name is
 * delegated. A statement that nobody holds the name outweighs all other facts, e.g. the dates of a top-level domain
 * that is not assigned.
 */
function isHeld(state: NameState | null, { facts, delegated }: { facts: number; delegated: boolean }): boolean {
  if (state === null) return facts > 0;
  return (state === "reserved" || state === "premium") && delegated;
}

/** Reports whether nobody holds the name and the registry would let somebody register it. */
function isFree(verdict: WhoisRecord["verdict"]): boolean {
  return verdict === "absent" || verdict === "premium" || verdict === "not_assigned";
}

function isNamed(server: string): boolean {
  return /[a-z]\.?$/i.test(server) && !server.includes(":");
}

/** Translates a registry's own labels to common labels, and drops values that mean "no value". */
function toCommonLabels(entries: readonly WhoisEntry[], format: RegistryFormat | null): readonly WhoisEntry[] {
  if (format === null) return entries;
  const { labels = {}, ignored = [], empty } = format;
  const common = (label: string) => (Object.hasOwn(labels, label) ? labels[label] : undefined) ?? label;
  // "NOT AVAILABLE    NOT AVAILABLE" in two parts is as empty as in one.
  const isEmpty = (value: string) => empty !== undefined && /^\W*$/.test(value.toLowerCase().replaceAll(empty, ""));
  return entries
    .filter(({ section }) => !ignored.includes(section))
    .map(({ key, section, values }) => ({
      key: common(key),
      section: common(section),
      // The first value belongs to the field. Values below it do not replace it.
      values: isEmpty(values[0] ?? "") ? [] : values.filter((value) => !isEmpty(value)),
    }));
}
