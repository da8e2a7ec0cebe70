import { LAUNCHER } from "#shared/settings/launcher.ts";
import { dialTarget, optionalListenAddress } from "#shared/settings/address.ts";
import { integer, list, path, text } from "#shared/settings/kinds.ts";
import { dnsName, httpUrl, server } from "#shared/settings/network.ts";
import { resolverSource } from "#shared/settings/resolvers.ts";
import { row } from "#shared/settings/row.ts";
import type { Kind } from "#shared/settings/kind.ts";

const agent = row("agent");

const WORD = /^[a-z0-9][a-z0-9-]{0,31}$/;
const VISIBLE = /^[\x21-\x7e]{1,512}$/;

/** Degrees north and east in decimal. */
interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** Latitude and longitude, separated by a comma. */
const coordinates: Kind<Coordinates> = {
  allowed: "latitude,longitude in decimal degrees, for example 52.37,4.89",
  parse(value) {
    const match = /^\s*(-?\d{1,2}(?:\.\d{1,10})?)\s*,\s*(-?\d{1,3}(?:\.\d{1,10})?)\s*$/.exec(value);
    const [latitude, longitude] = [Number(match?.[1]), Number(match?.[2])];
    return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined;
  },
};

/** An autonomous system number (RFC 6793: 32 bits; 0 is reserved, RFC 7607), with or without the letters. */
const asNumber: Kind<number> = {
  allowed: "an AS number such as AS64496",
  parse: (value) => integer(1, 4_294_967_295).parse(value.replace(/^AS/i, "")),
};

/** An ISO 3166-1 alpha-2 code, returned in capitals. */
const country: Kind<string> = {
  allowed: "a country code of two letters (ISO 3166-1 alpha-2)",
  parse: (value) => (/^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : undefined),
};

/** Settings that agents use. */
export const AGENT_SETTINGS = {
  agentMetricsAddr: agent("VANTAGE_AGENT_METRICS_ADDR", optionalListenAddress, {
    default: "127.0.0.1:9465",
    meaning: "metrics of the agent",
  }),
  controlPlane: agent("VANTAGE_CONTROL_PLANE", list(dialTarget, "host:port or dns:///name:port"), {
    default: "127.0.0.1:50051",
    meaning: "control-plane replicas to dial",
  }),
  joinToken: agent("VANTAGE_JOIN_TOKEN", text(`a token printed by ${LAUNCHER} probes token`, VISIBLE), {
    absent: "none",
    meaning: "one-time token that enrols the agent",
    secret: true,
  }),
  joinTokenFile: agent("VANTAGE_JOIN_TOKEN_FILE", path("a file with the token"), {
    absent: "none",
    meaning: "file to read VANTAGE_JOIN_TOKEN from",
  }),
  stateDir: agent("VANTAGE_STATE_DIR", path("a directory"), {
    absent: "<data dir>/agents/<region>",
    meaning: "directory of the agent's identity; one per agent",
  }),
  region: agent("VANTAGE_REGION", text("1 to 32 lower-case letters, digits or hyphens", WORD), {
    default: "local",
    meaning: "region of the agent",
  }),
  city: agent("VANTAGE_CITY", text("a name of at most 80 characters", /^[^\p{Cc}]{1,80}$/u), {
    absent: "unknown",
    meaning: "city of the agent",
  }),
  country: agent("VANTAGE_COUNTRY", country, { absent: "unknown", meaning: "country of the agent" }),
  latlong: agent("VANTAGE_LATLONG", coordinates, { absent: "unknown", meaning: "position of the agent" }),
  asn: agent("VANTAGE_ASN", asNumber, { absent: "unknown", meaning: "network of the agent" }),
  tags: agent("VANTAGE_TAGS", list(text("", WORD), "words of lower-case letters, digits and hyphens"), {
    absent: "none",
    meaning: "tags of the agent, for location expressions",
  }),
  maxJobs: agent("VANTAGE_MAX_JOBS", integer(1, 100_000), {
    default: "200",
    meaning: "concurrent jobs over all streams",
  }),
  resolvers: agent("VANTAGE_RESOLVERS", resolverSource, {
    absent: "built-in list",
    meaning: "public resolvers of the propagation tool",
  }),
  trustAnchors: agent("VANTAGE_TRUST_ANCHORS", path("a file of DS or DNSKEY records"), {
    absent: "IANA root",
    meaning: "DNSSEC trust anchors in zone-file form",
  }),
  rdapBootstrapUrl: agent("VANTAGE_RDAP_BOOTSTRAP_URL", httpUrl, {
    default: "https://data.iana.org/rdap",
    meaning: "RDAP bootstrap registries (RFC 9224); /dns.json and so on are appended",
  }),
  whoisServer: agent("VANTAGE_WHOIS_SERVER", server("host[:port]", 43), {
    absent: "IANA referral",
    meaning: "first WHOIS server to ask",
  }),
  cymruZones: agent(
    "VANTAGE_CYMRU_ZONES",
    list(dnsName, "three DNS zones: of IPv4 origins, IPv6 origins, AS numbers"),
    {
      default: "origin.asn.cymru.com,origin6.asn.cymru.com,asn.cymru.com",
      meaning: "DNS zones that map addresses to networks",
    },
  ),
  waybackUrl: agent("VANTAGE_WAYBACK_URL", httpUrl, {
    default: "https://archive.org/wayback/available",
    meaning: "availability API of the Internet Archive",
  }),
  waybackCdxUrl: agent("VANTAGE_WAYBACK_CDX_URL", httpUrl, {
    default: "https://web.archive.org/cdx/search/cdx",
    meaning: "index API of the Internet Archive",
  }),
  psiUrl: agent("VANTAGE_PSI_URL", httpUrl, {
    default: "https://www.googleapis.com/pagespeedonline/v5/runPagespeed",
    meaning: "PageSpeed Insights API",
  }),
  psiKey: agent("VANTAGE_PSI_KEY", text("visible ASCII characters", VISIBLE), {
    absent: "none",
    meaning: "key of the PageSpeed Insights API",
    secret: true,
  }),
  greencheckUrl: agent("VANTAGE_GREENCHECK_URL", httpUrl, {
    default: "https://api.thegreenwebfoundation.org",
    meaning: "Green Web Foundation API",
  }),
  pdnsUrl: agent("VANTAGE_PDNS_URL", httpUrl, { absent: "none", meaning: "passive DNS in Common Output Format" }),
  geoDb: agent("VANTAGE_GEO_DB", path("an .mmdb file"), { absent: "none", meaning: "locations of IP addresses" }),
  asnDb: agent("VANTAGE_ASN_DB", path("an .mmdb file"), { absent: "none", meaning: "networks of IP addresses" }),
  hstsPreloadFile: agent("VANTAGE_HSTS_PRELOAD_FILE", path("Chromium's preload list"), {
    absent: "none",
    meaning: "HSTS preload list",
  }),
  ctLogList: agent("VANTAGE_CT_LOG_LIST", path("a JSON file"), {
    absent: "none or a small built-in",
    meaning: "Certificate Transparency log list (v3 JSON)",
  }),
  techRulesDir: agent("VANTAGE_TECH_RULES_DIR", path("a directory"), {
    absent: "a small built-in set",
    meaning: "technology rules in Wappalyzer's format",
  }),
  aiBotsFile: agent("VANTAGE_AI_BOTS_FILE", path("a file"), {
    absent: "a small built-in list",
    meaning: "user agents of AI crawlers",
  }),
  chromium: agent("VANTAGE_CHROMIUM", path("a Chromium program"), {
    absent: "found on PATH",
    meaning: "browser for screenshots and pagespeed; enables the capability browser",
  }),
  browserSlots: agent("VANTAGE_BROWSER_SLOTS", integer(1, 32), {
    default: "2",
    meaning: "pages that the browser loads at the same time; from 2 on no account has all of them",
  }),
};
