import { AutnumRegistration, NetworkRegistration } from "#shared/tools/registrations.ts";
import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Limitations, Nullable, Resource } from "#shared/tools/fields.ts";
import { findings, count, integer, list, record, text, texts, truth, word, elapsed } from "#shared/tools/shapes.ts";

const instant = (what: string) => Nullable(text(`${what}, ISO 8601 UTC; null if not stated`));

const Registrar = record(
  {
    name: Nullable(text("Company that registered the name for its holder")),
    iana_id: Nullable(text("IANA's number of an ICANN-accredited registrar, digits")),
    abuse_email: Nullable(text("Its address for abuse reports")),
    phone: Nullable(text("Telephone number of its abuse contact, else its own")),
    url: Nullable(text("Its web site")),
  },
  "Registrar of the domain; null if the registry names none",
);

const DelegationSigner = record(
  {
    key_tag: count("Key tag of the signed key"),
    algorithm: count("DNSSEC algorithm number"),
    digest_type: count("Digest algorithm number"),
    digest: text("Digest of the key, hexadecimal"),
  },
  "DS record as stored by the registry (RFC 4034 section 5)",
);

const Registrant = record(
  {
    org: Nullable(text("Organization that holds the domain; null if it is withheld or the holder is a person")),
    country: Nullable(text("Country as registered, mostly ISO 3166-1 alpha-2")),
    redacted: truth("Whether the registry or registrar says that it withholds data about the holder (RFC 9537)"),
  },
  "Holder of the domain; null if the answer does not mention one",
);

const Server = record(
  {
    server: text("RDAP resource (URL) or WHOIS server (host, and port if it is not 43) that was asked"),
    protocol: word(["rdap", "whois"], "Protocol of the query"),
    outcome: text(
      "found, absent, reserved, premium, unassignable, not_assigned, limited (rate limit), unknown (not understood), or why there was no answer",
    ),
  },
  "One server that was asked",
);

/** Looks up who holds a domain, an address or an AS number in the registries. */
export const whois = defineTool({
  name: "whois",
  title: "WHOIS and RDAP",
  summary: "Registration of a domain, IP address or AS number: registrar, dates, status, name servers, DNSSEC",
  scope: "dns",
  toolset: "registry",
  target: { param: "host", kind: "resource", connects: false },
  example: { host: "example.com" },
  params: Type.Object({
    host: Resource({ description: "Domain (or any name below it), IP address, or AS number such as AS64500" }),
  }),
  result: Type.Object({
    host: text("Requested resource"),
    kind: word(["domain", "ip", "autnum"], "Kind of the resource"),
    domain: Nullable(text("Registered domain looked up, A-labels; null for addresses and AS numbers")),
    unicode: Nullable(text("The domain in Unicode; null if it has no international characters")),
    public_suffix: Nullable(text("Suffix under which the domain is registered (Public Suffix List, ICANN section)")),
    private_suffix: Nullable(
      text("Suffix whose owner gives out the names below it, e.g. github.io; null if the host is below none"),
    ),
    registered: Nullable(
      truth(
        "Whether somebody holds it; false: nobody does (state absent, premium or not_assigned); null: the registry does not say (state reserved or unassignable)",
      ),
    ),
    state: word(
      ["registered", "absent", "reserved", "premium", "unassignable", "not_assigned"],
      "State according to the registry: registered; absent: the registry has no such object; reserved: kept back or blocked; premium: available at a special price; unassignable: never assigned to anyone; not_assigned: assigned to nobody, e.g. a top-level domain without a registry",
    ),
    rdap_server: Nullable(text("Base URL of the RDAP service that answered; null if none did")),
    whois_server: Nullable(text("WHOIS server whose answer was used; null if none was")),
    registrar: Nullable(Registrar),
    created: instant("Time of the registration"),
    updated: instant("Time of the last change"),
    expires: instant("Time at which the registration expires"),
    days_left: Nullable(integer("Whole days until expires, rounded down, negative when past; null if not stated")),
    status: texts("Status words as the registry prints them"),
    nameservers: texts("Delegated name servers, lower case, without final dot"),
    dnssec: record(
      {
        signed: Nullable(truth("Whether the delegation is signed; null if not stated")),
        ds: list(DelegationSigner, "DS records that the registry shows"),
      },
      "DNSSEC data of the registration",
    ),
    registrant: Nullable(Registrant),
    registry_domain_id: Nullable(text("The registry's identifier of the domain")),
    privacy: Nullable(
      truth(
        "Whether the holder is hidden, by redaction or behind a privacy service; null if the answer does not mention a holder",
      ),
    ),
    redacted_fields: texts("Fields that the RDAP server lists as withheld (RFC 9537)"),
    network: Nullable(NetworkRegistration),
    autnum: Nullable(AutnumRegistration),
    raw: Nullable(text("The answer used, unprocessed: RDAP JSON or WHOIS text, up to 32,768 characters")),
    raw_truncated: truth("Whether raw is truncated"),
    servers: list(Server, "Every server that was asked, in order"),
    findings: findings(),
    source: word(["rdap", "whois"], "Protocol of the answer used"),
    observed_at: text("When the lookup began, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  deadlineMs: () => 30_000,
  open: { q: "host" },
});
