import { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";
import { readHolder, type WhoisHolder } from "#probe-agent/analysis/registry/whois/holder.ts";
import { inCommonLabels } from "#probe-agent/analysis/registry/whois/labels.ts";
import { readWhoisLines } from "#probe-agent/analysis/registry/whois/lines.ts";
import { readRegistrar, type WhoisRegistrar } from "#probe-agent/analysis/registry/whois/registrar.ts";
import { registryFormat, type NameState } from "#probe-agent/analysis/registry/whois/registries.ts";
import { readSigning, type WhoisSigning } from "#probe-agent/analysis/registry/whois/signing.ts";
import { readVerdict, type Spoken } from "#probe-agent/analysis/registry/whois/verdict.ts";

/** What a WHOIS answer says of a domain. What the text does not say is null or empty. */
export interface WhoisRecord {
  /** Null: the answer does not say (a rate limit, a reserved or unassignable name, an answer that is not understood). */
  readonly registered: boolean | null;
  /** What the answer says of the name, in a word. */
  readonly verdict: "registered" | NonNullable<Spoken> | "unknown";
  /** The name the answer is about, as printed, lower case. */
  readonly domain: string | null;
  readonly registrar: WhoisRegistrar | null;
  /** ISO 8601 UTC. */
  readonly created: string | null;
  /** The registry only knows that it was before `created`. */
  readonly created_before: boolean;
  readonly updated: string | null;
  readonly expires: string | null;
  /** Lower case, no final dot, no address. */
  readonly nameservers: string[];
  /** As printed, without the URL. */
  readonly status: string[];
  readonly dnssec: WhoisSigning;
  readonly holder: WhoisHolder | null;
  readonly registry_domain_id: string | null;
  /** Another server that is said to know more, as printed. */
  readonly referral: string | null;
}

// A registry's answer in full; what is longer has been cut by the port already.
const MAX_TEXT = 262_144;

/** Reads the answer of any registry or registrar about a domain. `server` decides dates such as 03/04/2024. */
export function parseWhois(text: string, server: string): WhoisRecord {
  const { entries, prose } = readWhoisLines(text.slice(0, MAX_TEXT));
  const about = new WhoisFields(entries, server).domain();
  const format = registryFormat(server, about);
  // A server known by its address alone does not tell the country; the name it speaks of does.
  const fields = new WhoisFields(inCommonLabels(entries, format), isNamed(server) ? server : (about ?? server), format);
  const created = fields.date("created");
  const updated = fields.date("updated")?.iso ?? null;
  const expires = fields.date("expires")?.iso ?? null;
  const registrar = readRegistrar(fields);
  const nameservers = fields.nameservers();
  const status = fields.statuses();
  const domain = fields.domain();
  const state = fields.state();
  const facts = [created, updated, expires, registrar].filter((fact) => fact !== null).length + nameservers.length;
  const holds = isHeld(state, { facts: domain === null ? facts - 1 : facts, delegated: nameservers.length > 0 });
  const spoken = holds ? null : readVerdict(prose, format);
  // A status alone is enough where nothing is said to the contrary, e.g. "status: published" of a name without servers.
  const registered = holds || (spoken === null && state === null && domain !== null && status.length > 0);
  const verdict = registered ? "registered" : (state ?? spoken ?? "unknown");
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
 * Whether somebody holds the name. A registry may call a name that it holds itself reserved: it is delegated then. No
 * fact counts against a statement that nobody has it, e.g. the dates of a top-level domain that is not assigned.
 */
function isHeld(state: NameState | null, { facts, delegated }: { facts: number; delegated: boolean }): boolean {
  if (state === null) return facts > 0;
  return (state === "reserved" || state === "premium") && delegated;
}

/** Nobody has the name, and the registry does not keep it from everybody. */
function isFree(verdict: WhoisRecord["verdict"]): boolean {
  return verdict === "absent" || verdict === "premium" || verdict === "not_assigned";
}

function isNamed(server: string): boolean {
  return /[a-z]\.?$/i.test(server) && !server.includes(":");
}
