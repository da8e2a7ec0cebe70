import { AutnumRegistration, NetworkRegistration } from "#shared/tools/registrations.ts";
import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Limitations, Nullable, Resource } from "#shared/tools/fields.ts";
import { findings, count, integer, list, record, text, texts, truth, word, elapsed } from "#shared/tools/shapes.ts";

const instant = (what: string) => Nullable(text(`${what}, ISO 8601 UTC; null where not stated`));

const Registrar = record(
  {
    name: Nullable(text("Company that sold the name")),
    iana_id: Nullable(text("IANA's number of an ICANN-accredited registrar, digits")),
    abuse_email: Nullable(text("Where it wants abuse reported")),
    phone: Nullable(text("Telephone of its abuse desk, else its own")),
    url: Nullable(text("Its web site")),
  },
  "Registrar of the domain; null where the registry names none",
);

const DelegationSigner = record(
  {
    key_tag: count("Key tag of the signed key"),
    algorithm: count("DNSSEC algorithm number"),
    digest_type: count("Digest algorithm number"),
    digest: text("Digest of the key, hexadecimal"),
  },
  "DS record as the registry has it (RFC 4034 section 5)",
);

const Registrant = record(
  {
    org: Nullable(text("Organization that holds the domain; null where withheld or a person")),
    country: Nullable(text("Country as registered, mostly ISO 3166-1 alpha-2")),
    redacted: truth("Whether the registry or registrar says that it withholds data about the holder (RFC 9537)"),
  },
  "Holder of the domain; null where nothing is said of one",
);

const Server = record(
  {
    server: text("RDAP resource (URL) or WHOIS server (host, port where it is not 43) asked"),
    protocol: word(["rdap", "whois"], "How it was asked"),
    outcome: text(
      "found, absent, reserved, premium, unassignable, not_assigned, limited (rate limit), unknown (not understood), or why there was no answer",
    ),
  },
  "One server asked",
);

/** Who has a domain, an address or an AS number, as the registries tell. */
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
    host: text("What was asked for"),
    kind: word(["domain", "ip", "autnum"], "What kind of resource it is"),
    domain: Nullable(text("Registered domain looked up, A-labels; null for addresses and AS numbers")),
    unicode: Nullable(text("The same as people read it; null where it has no international characters")),
    public_suffix: Nullable(text("Suffix under which the domain is registered (Public Suffix List, ICANN section)")),
    private_suffix: Nullable(
      text("Suffix whose owner hands out names below it himself, e.g. github.io; null where the host is below none"),
    ),
    registered: Nullable(
      truth(
        "Whether somebody holds it; false: nobody does (state absent, premium or not_assigned); null: the registry does not tell (state reserved or unassignable)",
      ),
    ),
    state: word(
      ["registered", "absent", "reserved", "premium", "unassignable", "not_assigned"],
      "What the registry says of it: registered; absent: it has no such object; reserved: kept back or blocked; premium: free, at a special price; unassignable: refused to everyone; not_assigned: given to nobody, e.g. a top-level domain without a registry",
    ),
    rdap_server: Nullable(text("Base URL of the RDAP service that answered; null where none did")),
    whois_server: Nullable(text("WHOIS server whose answer was used; null where none was")),
    registrar: Nullable(Registrar),
    created: instant("When the domain was registered"),
    updated: instant("When the registration was last changed"),
    expires: instant("When the registration ends"),
    days_left: Nullable(integer("Whole days until then, floored, negative when past; null where not stated")),
    status: texts("Status words as the registry prints them"),
    nameservers: texts("Delegated name servers, lower case, without final dot"),
    dnssec: record(
      {
        signed: Nullable(truth("Whether the delegation is signed; null where not stated")),
        ds: list(DelegationSigner, "DS records the registry shows"),
      },
      "DNSSEC as registered",
    ),
    registrant: Nullable(Registrant),
    registry_domain_id: Nullable(text("The registry's key of the domain")),
    privacy: Nullable(
      truth(
        "Whether the holder is hidden, by redaction or behind a privacy service; null where nothing is said of one",
      ),
    ),
    redacted_fields: texts("Fields the RDAP server lists as withheld (RFC 9537)"),
    network: Nullable(NetworkRegistration),
    autnum: Nullable(AutnumRegistration),
    raw: Nullable(text("The answer used, as it came: RDAP JSON or WHOIS text, at most 32,768 characters")),
    raw_truncated: truth("Whether raw is cut"),
    servers: list(Server, "Every server asked, in order"),
    findings: findings(),
    source: word(["rdap", "whois"], "Protocol of the answer used"),
    observed_at: text("When the look-up began, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  deadlineMs: () => 30_000,
  open: { q: "host" },
});
