import { WhoisFields } from "#probe-agent/analysis/whois/fields.ts";
import { readHolder, type WhoisHolder } from "#probe-agent/analysis/whois/holder.ts";
import { readWhoisLines } from "#probe-agent/analysis/whois/lines.ts";
import { readRegistrar, type WhoisRegistrar } from "#probe-agent/analysis/whois/registrar.ts";
import { readSigning, type WhoisSigning } from "#probe-agent/analysis/whois/signing.ts";
import { readVerdict } from "#probe-agent/analysis/whois/verdict.ts";

/** What a WHOIS answer says of a domain. What the text does not say is null or empty. */
export interface WhoisRecord {
  /** Null: the server did not tell (a rate limit, a reserved name, an answer nobody understands). */
  readonly registered: boolean | null;
  /** Why, in a word. */
  readonly verdict: "registered" | "absent" | "reserved" | "limited" | "unknown";
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
  const fields = new WhoisFields(entries, server);
  const created = fields.date("created");
  const updated = fields.date("updated")?.iso ?? null;
  const expires = fields.date("expires")?.iso ?? null;
  const registrar = readRegistrar(fields);
  const nameservers = fields.nameservers();
  const status = fields.statuses();
  const domain = fields.domain();
  const facts = [created, updated, expires, registrar].filter((fact) => fact !== null).length + nameservers.length;
  const holds = fields.isFree() ? false : domain === null ? facts > 1 : facts > 0;
  const spoken = holds ? null : readVerdict(prose);
  // A status alone is enough where nothing is said to the contrary, e.g. "status: published" of a name without servers.
  const registered = holds || (spoken === null && domain !== null && status.length > 0 && !fields.isFree());
  const verdict = registered ? "registered" : fields.isFree() ? "absent" : (spoken ?? "unknown");
  return {
    registered: registered ? true : verdict === "absent" ? false : null,
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
