import { aliases, addressOf, interfaces } from "#test/lab/addresses.ts";
import { mailRecords, smtpRecords } from "#test/lab/services/mail-records.ts";
import { REGIONS, TLS_VARIANTS, type Topology } from "#test/lab/topology.ts";

/** A zone and its servers. */
export interface Zone {
  /** Name without a final dot; "" is the root. */
  readonly name: string;
  /** Unsigned master file. */
  readonly text: string;
  readonly servers: readonly ServerName[];
  /** Names in its parent's delegation if they differ from its servers. */
  readonly delegatedTo?: readonly string[];
  /** How it is signed; absent if it is not. */
  readonly signing?: "nsec" | "nsec3" | "optout" | "expired";
  /** What its servers remove after signing: the signatures of addresses, or keys and signatures. Default: nothing. */
  readonly strips?: "addresses" | "everything";
  /** What its parent's DS record says about its key. Default: the truth. */
  readonly ds?: "another key";
}

/** The name servers. */
export type ServerName = "dns-root" | "dns-tld" | "dns-ns1" | "dns-ns2";

/** Names of the servers in the zone `test`. */
const NS = {
  "dns-ns1": "ns1.test.",
  "dns-ns2": "ns2.test.",
  "dns-lame": "lame-ns.test.",
  "dns-dead": "dead-ns.test.",
  "geo-ns": "geo-ns.lab.test.",
};
const BOTH: readonly ServerName[] = ["dns-ns1", "dns-ns2"];

/** Serials of the zone whose second server has old data. */
export const STALE_SERIALS = { "dns-ns1": 2026010102, "dns-ns2": 2026010101 } as const;

/** Answer of each of them for changed.stale.test. */
export const STALE_ANSWERS = { "dns-ns1": "203.0.113.112", "dns-ns2": "203.0.113.111" } as const;

/** Answer of geo.test for each region. */
export const GEO_ANSWERS = { eu: "203.0.113.101", us: "203.0.113.102", ap: "203.0.113.103" } as const;

/** Number of texts of many.unsigned.test, too many for one datagram. */
export const MANY_TEXTS = 60;

/** The zone whose server answers by the client's network, or by the client subnet in a resolver's query. */
export const GEO_SUBNET_ZONE = "subnet.test";

/**
 * Returns every zone except the root and `test`, which are derived from the delegations. `mailKey`: see mailZones.
 * Pure.
 */
export function leafZones(topology: Topology, mailKey: string): readonly Zone[] {
  const www = hostRecords("www", addressOf(topology, "good", 4), addressOf(topology, "good", 6));
  const web = zoneText(["@ MX 10 svc.lab.test.", '@ TXT "v=spf1 -all"', www]);
  const stale = (node: keyof typeof STALE_SERIALS): string =>
    zoneText([www, `changed A ${STALE_ANSWERS[node]}`], STALE_SERIALS[node]);
  return [
    { name: "signed.test", text: web, servers: BOTH, signing: "nsec" },
    { name: "nsec3.test", text: web, servers: BOTH, signing: "nsec3" },
    { name: "bogus.test", text: web, servers: BOTH, signing: "nsec", ds: "another key" },
    { name: "expired.test", text: web, servers: BOTH, signing: "expired" },
    { name: "unsigned.test", text: zoneText([web, ...oddRecords()], null), servers: BOTH },
    { name: "stale.test", text: stale("dns-ns1"), servers: ["dns-ns1"], delegatedTo: BOTH },
    { name: "stale.test", text: stale("dns-ns2"), servers: ["dns-ns2"], delegatedTo: BOTH },
    { name: "lame.test", text: web, servers: [], delegatedTo: ["dns-lame"] },
    { name: "half-lame.test", text: web, servers: ["dns-ns1"], delegatedTo: ["dns-ns1", "dns-lame"] },
    { name: "dead.test", text: web, servers: [], delegatedTo: ["dns-dead"] },
    { name: "lab.test", text: zoneText(labRecords(topology)), servers: BOTH },
    { name: "tls.test", text: zoneText(tlsRecords(topology)), servers: BOTH },
    { name: "mail.test", text: zoneText(mailRecords(topology, mailKey)), servers: BOTH, signing: "nsec" },
    { name: "smtp.test", text: zoneText(smtpRecords()), servers: BOTH },
    { name: GEO_SUBNET_ZONE, text: "", servers: [], delegatedTo: ["geo-ns"] },
    { name: "cymru.test", text: zoneText(cymruRecords()), servers: BOTH },
    ...reverseZones(topology),
  ];
}

/** Returns the zone that answers each region differently, for one region. Both servers have it. Pure. */
export function geoZone(region: keyof typeof GEO_ANSWERS): string {
  return zoneText([`@ A ${GEO_ANSWERS[region]}`, `@ TXT "${region}"`]);
}

/** Returns the zone `test`: its servers' addresses and all delegations below it, with the given DS records. Pure. */
export function testZone(topology: Topology, zones: readonly Zone[], ds: ReadonlyMap<string, string>): string {
  const inside = Object.entries(NS).filter(([, name]) => !name.endsWith(".lab.test."));
  const servers = inside.flatMap(([node, name]) =>
    hostRecords(name, addressOf(topology, node, 4), addressOf(topology, node, 6)),
  );
  const own = hostRecords("ns.test.", addressOf(topology, "dns-tld", 4), addressOf(topology, "dns-tld", 6));
  // Zones further below belong to their own parents.
  const below = [...zones, { name: "geo.test", servers: BOTH }].filter(({ name }) => /^[^.]+\.test$/.test(name));
  return zoneText([own, ...servers, ...delegations(below, ds)], 1, "ns.test.");
}

/** Returns the root zone. Pure. */
export function rootZone(topology: Topology, zones: readonly Zone[], ds: ReadonlyMap<string, string>): string {
  const glue = [
    hostRecords("ns.root.", addressOf(topology, "dns-root", 4), addressOf(topology, "dns-root", 6)),
    hostRecords("ns.test.", addressOf(topology, "dns-tld", 4), addressOf(topology, "dns-tld", 6)),
  ];
  const reverse = zones.filter(({ name }) => name.endsWith(".arpa"));
  const lines = [...glue, "test. NS ns.test.", ds.get("test") ?? "", ...delegations(reverse, ds)];
  return zoneText(lines, 1, "ns.root.");
}

function delegations(
  zones: readonly Pick<Zone, "name" | "servers" | "delegatedTo">[],
  ds: ReadonlyMap<string, string>,
): string[] {
  const byName = new Map(zones.map((zone) => [zone.name, zone]));
  return [...byName.values()].flatMap(({ name, servers, delegatedTo = servers }) => [
    ...delegatedTo.map((server) => `${name}. NS ${NS[server as keyof typeof NS]}`),
    ds.get(name) ?? "",
  ]);
}

/** Formats a zone. If `serial` is null, the lines have their own SOA. */
function zoneText(lines: readonly string[], serial: number | null = 1, server: string | null = null): string {
  if (serial === null) return lines.join("\n");
  const names = server === null ? [NS["dns-ns1"], NS["dns-ns2"]] : [server];
  const soa = `@ SOA ${names[0]} hostmaster.lab.test. ${serial} 3600 600 86400 60`;
  return [`$TTL 60`, soa, ...names.map((name) => `@ NS ${name}`), ...lines, ""].join("\n");
}

function hostRecords(name: string, ip4: string, ip6: string): string {
  return `${name} A ${ip4}\n${name} AAAA ${ip6}`;
}

function oddRecords(): string[] {
  return [
    "loop-1 CNAME loop-2",
    "loop-2 CNAME loop-1",
    "alias CNAME www",
    ...Array.from({ length: MANY_TEXTS }, (_, index) => `many TXT "text number ${index}, long enough to add up"`),
  ];
}

function labRecords(topology: Topology): string[] {
  return [...interfaces(topology), ...aliases(topology)].map(({ ptr, ip }) => hostRecords(`${ptr}.`, ip[4], ip[6]));
}

function tlsRecords(topology: Topology): string[] {
  const hosts = TLS_VARIANTS.map((name) =>
    hostRecords(name, addressOf(topology, name, 4), addressOf(topology, name, 6)),
  );
  return [...hosts, 'h3 HTTPS 1 . alpn="h3,h2"'];
}

/** Zones of the reverse tree for the lab's ranges, by prefix of the reversed name. */
const REVERSE = [
  "18.198.in-addr.arpa",
  "19.198.in-addr.arpa",
  "100.51.198.in-addr.arpa",
  "113.0.203.in-addr.arpa",
  "8.b.d.0.1.0.0.2.ip6.arpa",
] as const;

/** Names that resolvers block by default (RFC 6303, RFC 6761) and that the lab needs. */
export const OPENED_NAMES: readonly string[] = ["test", ...REVERSE];

function reverseZones(topology: Topology): Zone[] {
  const records = [...interfaces(topology), ...aliases(topology)].flatMap(({ ip, ptr }) => [
    { owner: reverseName(ip[4]), ptr },
    { owner: reverseName(ip[6]), ptr },
  ]);
  return REVERSE.map((name) => ({
    name,
    servers: BOTH,
    text: zoneText(
      records.filter(({ owner }) => owner.endsWith(`.${name}`)).map(({ owner, ptr }) => `${owner}. PTR ${ptr}.`),
    ),
  }));
}

/** Returns the name under in-addr.arpa or ip6.arpa. IPv6 must be in the lab's form, with one "::". Pure. */
export function reverseName(ip: string): string {
  if (!ip.includes(":")) return `${ip.split(".").toReversed().join(".")}.in-addr.arpa`;
  const [head = "", tail = ""] = ip.split("::");
  const [left, right] = [head.split(":"), tail.split(":")];
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right];
  const nibbles = groups.map((group) => group.padStart(4, "0")).join("");
  return `${Array.from(nibbles).toReversed().join(".")}.ip6.arpa`;
}

/**
 * Announcements of networks (documentation AS numbers, RFC 5398, except for the last ones), with the country and name
 * in the origin zones.
 */
export const SYSTEMS = [
  { asn: 64500, prefix4: "198.18.0.0/16", prefix6: "2001:db8:18::/48", country: "CH", name: "LAB-CORE" },
  { asn: 64501, prefix4: "198.19.1.0/24", prefix6: "2001:db8:19:1::/64", country: "DE", name: "LAB-EU" },
  { asn: 64502, prefix4: "198.19.2.0/24", prefix6: "2001:db8:19:2::/64", country: "US", name: "LAB-US" },
  { asn: 64503, prefix4: "198.19.3.0/24", prefix6: "2001:db8:19:3::/64", country: "SG", name: "LAB-AP" },
  { asn: 64510, prefix4: "198.51.100.0/24", prefix6: "2001:db8:51:100::/64", country: "NL", name: "LAB-WEB" },
  { asn: 64511, prefix4: "203.0.113.0/24", prefix6: "2001:db8:203:113::/64", country: "FR", name: "LAB-SERVICES" },
  // Not an address of the lab, but registries and routing have data on it: documentation ranges have no networks.
  { asn: 15169, prefix4: "8.8.8.0/24", prefix6: "2001:4860::/32", country: "US", name: "LAB-PUBLIC" },
  { asn: 19281, prefix4: "9.9.9.0/24", prefix6: "2620:fe::/48", country: "US", name: "LAB-UNKNOWN" },
] as const;

/** VANTAGE_CYMRU_ZONES of the lab. */
export const CYMRU_ZONES = "origin.cymru.test,origin6.cymru.test,asn.cymru.test";

function cymruRecords(): string[] {
  return SYSTEMS.flatMap(({ asn, prefix4, prefix6, country, name }) => {
    const told = (prefix: string): string => `TXT "${asn} | ${prefix} | ${country} | ripencc | 2026-01-01"`;
    return [
      `*.${networkLabels(prefix4, 8, ".in-addr.arpa")}.origin ${told(prefix4)}`,
      `*.${networkLabels(prefix6, 4, ".ip6.arpa")}.origin6 ${told(prefix6)}`,
      `AS${asn}.asn TXT "${asn} | ${country} | ripencc | 2026-01-01 | ${name} - Lab network ${name}, ${country}"`,
    ];
  });
}

/** Returns the labels of a network's reverse name, `bits` of the address each. */
function networkLabels(prefix: string, bits: 4 | 8, suffix: string): string {
  const [address = "", length] = prefix.split("/");
  const labels = reverseName(bits === 4 ? `${address}0` : address)
    .slice(0, -suffix.length)
    .split(".");
  return labels.slice(labels.length - Number(length) / bits).join(".");
}

/** Regions in the order in which their views are tried. */
export const GEO_REGIONS = REGIONS;
