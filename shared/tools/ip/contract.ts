import { Type, type Static } from "typebox";
import { NetworkRegistration } from "#shared/tools/registrations.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host, Limitations, Nullable } from "#shared/tools/fields.ts";
import { hostSeenAt } from "#shared/tools/observations.ts";
import { ipVersion, elapsed } from "#shared/tools/shapes.ts";

function text(description: string) {
  return Type.String({ description });
}

function word<const W extends string>(words: readonly W[], description: string) {
  return Type.Enum([...words], { type: "string", description });
}

function coded(what: string, codes: string) {
  return Type.Object({ code: text(codes), name: text("Its English name") }, { description: what });
}

const Position = Type.Object(
  {
    latitude: Type.Number({ description: "Degrees, north positive" }),
    longitude: Type.Number({ description: "Degrees, east positive" }),
    accuracy_radius_km: Nullable(Type.Number({ description: "Radius around the point, kilometres" })),
  },
  { description: "Estimated position from the operator's location database; null without one" },
);

const Database = Type.Object(
  {
    source: text("Type of the database, from its metadata"),
    build_epoch: Type.Integer({ description: "When it was built, Unix seconds" }),
    age_days: Type.Integer({ description: "Age at the time of the lookup, days" }),
    licence: Nullable(text("The operator's note on its licence")),
  },
  { description: "The operator's location database; null if none is used" },
);

const Result = Type.Object({
  host: text("Requested host, lower-case A-labels or an IP literal"),
  ip: text("Checked address: the host's first"),
  ip_version: ipVersion(),
  type: word(
    ["public", "private", "cgnat", "loopback", "link_local", "multicast", "reserved", "documentation", "anycast"],
    "Purpose of the address by IANA's special-purpose registries; anycast only if they list it as such, e.g. AS112",
  ),
  hostname: Nullable(text("PTR name: the first confirmed one, else the first; null if there is none")),
  fcrdns: Nullable(
    Type.Boolean({ description: "Whether that name resolves back to the address; null without a name or an answer" }),
  ),
  continent: Nullable(coded("Continent of the country", "AF, AN, AS, EU, NA, OC or SA")),
  country: Nullable(coded("Country; see country_source for its meaning", "ISO 3166-1 alpha-2")),
  country_source: Nullable(
    word(
      ["geo_db", "rir_registration"],
      "geo_db: estimated location of the host; rir_registration: country in which the address block is registered",
    ),
  ),
  region: Nullable(coded("First-level subdivision of the country", "ISO 3166-2 without the country")),
  city: Nullable(text("City, English name")),
  postal: Nullable(text("Postal code")),
  location: Nullable(Position),
  timezone: Nullable(text("IANA time zone, e.g. Europe/Berlin")),
  asn: Nullable(Type.Integer({ description: "Number of the autonomous system that announces the address" })),
  asns: Type.Array(Type.Integer(), { description: "All systems that announce the same prefix; usually one" }),
  as_name: Nullable(text("Short name of that system, e.g. CLOUDFLARENET")),
  isp: Nullable(text("Operator of that system; its short name if no other is known")),
  organization: Nullable(text("Holder of the address block")),
  network: Nullable(
    text("Registered block that contains the address, CIDR; the announced prefix if the block is unknown"),
  ),
  announced_prefix: Nullable(text("Most specific prefix in global routing that contains the address, CIDR")),
  registry: Nullable(
    word(["afrinic", "apnic", "arin", "lacnic", "ripencc"], "Regional internet registry of the block"),
  ),
  rdap: Nullable(NetworkRegistration),
  all_addresses: Type.Array(
    Type.Object({
      ip: text("Address of the host"),
      ip_version: ipVersion(),
      blocked: Type.Boolean({ description: "Whether the target rules refuse this address" }),
    }),
    { description: "All addresses of the host, IPv4 first" },
  ),
  data: Nullable(Database),
  source: Type.Array(
    word(
      ["dns", "cymru", "rdap", "geo_db", "asn_db"],
      "dns: PTR; cymru: Team Cymru's DNS zones; rdap: registry; geo_db, asn_db: the operator's databases",
    ),
    {
      description: "Sources that contributed",
    },
  ),
  elapsed_ms: elapsed(),
  observed_at: text("When the lookup began, ISO 8601 UTC"),
  limitations: Limitations(),
});

/** Looks up an address's location, registration, announcing system and names. */
export const ip = defineTool({
  name: "ip",
  title: "IP geolocation",
  summary: "Location, provider, organization, network and registration of an IP address or host",
  scope: "ip",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com" },
  observes: ({ host, all_addresses }) =>
    hostSeenAt(
      host,
      all_addresses.map((address) => address.ip),
    ),
  params: Type.Object({ host: Host({ description: "IP address, or a host name whose first address is checked" }) }),
  result: Result,
  deadlineMs: () => 10_000,
  open: { q: "host" },
  across: {
    agreeOn: ({ all_addresses }: Static<typeof Result>) => all_addresses.map((address) => address.ip).toSorted(),
    measure: () => ({}),
  },
});
