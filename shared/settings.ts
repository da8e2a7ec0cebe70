import { LAUNCHER } from "#shared/launcher.ts";
import { dialTarget, listenAddress, nameServer, optionalListenAddress } from "#shared/settings/address.ts";
import { row, type ValueOf } from "#shared/settings/row.ts";
import { base64Key, choice, duration, instant, integer, list, path, text } from "#shared/settings/kinds.ts";
import { baseUrl, cidr, databaseUrl, dnsName, httpUrl, mailbox, server, url } from "#shared/settings/network.ts";
import { asNumber, coordinates, country } from "#shared/settings/place.ts";
import { resolverSource } from "#shared/settings/resolvers.ts";

const hub = row("control-plane");
const agent = row("agent");
const both = row("both");

/** From the fewest lines to the most. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

const WORD = /^[a-z0-9][a-z0-9-]{0,31}$/;
const VISIBLE = /^[\x21-\x7e]{1,512}$/;
const DAY = 86_400_000;
const upToTenYears = duration(1, 3_650 * DAY, "at most 3650d");

/** Every setting there is. The key is the name in the typed result of `readSettings`. */
export const SETTINGS = {
  databaseUrl: hub("DATABASE_URL", databaseUrl, {
    absent: "embedded",
    meaning: "PostgreSQL >= 15; npm start brings its own without it",
    secret: true,
  }),
  httpAddr: hub("VANTAGE_HTTP_ADDR", listenAddress, {
    default: "127.0.0.1:8080",
    meaning: "listener of API and pages",
  }),
  grpcAddr: hub("VANTAGE_GRPC_ADDR", listenAddress, { default: "127.0.0.1:50051", meaning: "listener for agents" }),
  metricsAddr: hub("VANTAGE_METRICS_ADDR", optionalListenAddress, {
    default: "127.0.0.1:9464",
    meaning: "metrics of the control plane",
  }),
  agentMetricsAddr: agent("VANTAGE_AGENT_METRICS_ADDR", optionalListenAddress, {
    default: "127.0.0.1:9465",
    meaning: "metrics of the agent",
  }),
  grpcAdvertise: hub("VANTAGE_GRPC_ADVERTISE", dialTarget, {
    absent: "none",
    meaning: "where agents dial this replica",
  }),
  baseUrl: hub("VANTAGE_BASE_URL", baseUrl, {
    absent: "http://VANTAGE_HTTP_ADDR",
    meaning: "address in links; the Origin that may call the agent endpoint",
  }),
  tlsCert: hub("VANTAGE_TLS_CERT", path("a PEM certificate chain"), {
    absent: "none: behind a proxy",
    meaning: "TLS on the API",
  }),
  tlsKey: hub("VANTAGE_TLS_KEY", path("a PEM private key"), { absent: "none", meaning: "key of VANTAGE_TLS_CERT" }),
  trustedProxies: hub("VANTAGE_TRUSTED_PROXIES", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none: X-Forwarded-For is ignored",
    meaning: "proxies whose X-Forwarded-For is believed",
  }),
  dataDir: both("VANTAGE_DATA_DIR", path("a directory"), {
    default: "./.vantage",
    meaning: "embedded database and generated keys; npm start and deploy/vantage take the one of the clone",
  }),
  adminToken: hub("VANTAGE_ADMIN_TOKEN", text("1 to 512 visible ASCII characters", VISIBLE), {
    absent: "generated into the data directory",
    meaning: "the operator's bearer token",
    secret: true,
  }),
  masterKey: hub("VANTAGE_MASTER_KEY", base64Key, {
    absent: "generated into the data directory",
    meaning: "encrypts secrets in the database; another key than before refuses to start",
    secret: true,
  }),
  signup: hub("VANTAGE_SIGNUP", choice("open", "invite", "closed"), {
    default: "closed",
    meaning: "who may make an account",
  }),
  smtpUrl: hub("VANTAGE_SMTP_URL", url("an smtp:// or smtps:// URL", ["smtp:", "smtps:"]), {
    absent: "none: no mail",
    meaning: "mail server, with user and password where it wants them",
    secret: true,
  }),
  mailFrom: hub("VANTAGE_MAIL_FROM", mailbox, { absent: "none", meaning: "sender of mail" }),
  plansFile: hub("VANTAGE_PLANS", path("a JSON file"), {
    absent: "built-in table",
    meaning: "JSON file overriding rows of the plan table",
  }),
  openPerMinute: hub("VANTAGE_OPEN_PER_MINUTE", integer(0, 1_000_000), {
    default: "20",
    meaning: "open tier: requests a minute per client address (IPv6: /64)",
  }),
  openPerDay: hub("VANTAGE_OPEN_PER_DAY", integer(0, 1_000_000_000), {
    default: "200",
    meaning: "open tier: requests a day per client address",
  }),
  targetBudget: hub("VANTAGE_TARGET_BUDGET", integer(1, 1_000_000), {
    default: "300",
    meaning: "on-demand calls a minute at one target, all accounts together",
  }),
  v1V2Sunset: hub("VANTAGE_V1_V2_SUNSET", instant, {
    default: "2026-10-01T00:00:00Z",
    meaning: "from then on API versions 1 and 2 answer 410",
  }),
  legacySignatureUntil: hub("VANTAGE_LEGACY_SIGNATURE_UNTIL", instant, {
    default: "2026-07-01T00:00:00Z",
    meaning: "until then webhooks carry the legacy signature too",
  }),
  webhookRetrySchedule: hub(
    "VANTAGE_WEBHOOK_RETRY_SCHEDULE",
    list(duration(0, 30 * DAY, "at most 30d"), "durations such as 0s,5s,5m"),
    { default: "0s,5s,5m,30m,2h,5h,10h,10h", meaning: "waits before each delivery attempt" },
  ),
  webhookTimeout: hub("VANTAGE_WEBHOOK_TIMEOUT", duration(100, 300_000, "100ms to 5m"), {
    default: "15s",
    meaning: "time for one delivery attempt",
  }),
  retentionChecks: hub("VANTAGE_RETENTION_CHECKS", upToTenYears, {
    default: "90d",
    meaning: "how long checks are kept",
  }),
  retentionDeliveries: hub("VANTAGE_RETENTION_DELIVERIES", upToTenYears, {
    default: "30d",
    meaning: "how long webhook deliveries are kept",
  }),
  retentionMeasurements: hub("VANTAGE_RETENTION_MEASUREMENTS", upToTenYears, {
    default: "7d",
    meaning: "how long measurements are kept",
  }),
  controlPlane: agent("VANTAGE_CONTROL_PLANE", list(dialTarget, "host:port or dns:///name:port"), {
    default: "127.0.0.1:50051",
    meaning: "control-plane replicas to dial",
  }),
  joinToken: agent("VANTAGE_JOIN_TOKEN", text(`a token printed by ${LAUNCHER} probes token`, VISIBLE), {
    absent: "none",
    meaning: "enrols the agent once",
    secret: true,
  }),
  joinTokenFile: agent("VANTAGE_JOIN_TOKEN_FILE", path("a file with the token"), {
    absent: "none",
    meaning: "file to read VANTAGE_JOIN_TOKEN from",
  }),
  stateDir: agent("VANTAGE_STATE_DIR", path("a directory"), {
    absent: "<data dir>/agents/<region>",
    meaning: "the agent's identity; one agent each",
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
  maxJobs: agent("VANTAGE_MAX_JOBS", integer(1, 100_000), { default: "200", meaning: "jobs at once over all streams" }),
  dnsServers: both("VANTAGE_DNS_SERVERS", list(nameServer, "IP address[:port]"), {
    absent: "the system's",
    meaning: "name servers to ask",
  }),
  allowTargets: both("VANTAGE_ALLOW_TARGETS", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none",
    meaning: "private ranges that may be reached, by everyone who may use the agent",
  }),
  allowNames: both("VANTAGE_ALLOW_NAMES", list(dnsName, "name suffixes such as corp.internal"), {
    absent: "none",
    meaning: "special names that may be reached, by suffix",
  }),
  contactUrl: both("VANTAGE_CONTACT_URL", url("an http, https or mailto URL", ["http:", "https:", "mailto:"]), {
    absent: "the project's",
    meaning: "whom the owners of checked sites can turn to; stands in the User-Agent",
  }),
  optOutFile: both("VANTAGE_OPT_OUT_FILE", path("a file of targets never to be reached"), {
    absent: "none",
    meaning: "targets whose owners want no checks",
  }),
  logLevel: both("VANTAGE_LOG_LEVEL", choice(...LOG_LEVELS), {
    default: "info",
    meaning: "least severe lines that are logged; info has a line per request",
  }),
  resolvers: agent("VANTAGE_RESOLVERS", resolverSource, {
    absent: "built-in list",
    meaning: "public resolvers the propagation tool asks",
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
  geoDb: agent("VANTAGE_GEO_DB", path("an .mmdb file"), { absent: "none", meaning: "places of addresses" }),
  asnDb: agent("VANTAGE_ASN_DB", path("an .mmdb file"), { absent: "none", meaning: "networks of addresses" }),
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
    meaning: "technology rules in Wappalyzer's form",
  }),
  aiBotsFile: agent("VANTAGE_AI_BOTS_FILE", path("a file"), {
    absent: "a small built-in list",
    meaning: "user agents of AI crawlers",
  }),
  chromium: agent("VANTAGE_CHROMIUM", path("a Chromium program"), {
    absent: "found on PATH",
    meaning: "browser for pictures; gives capability browser",
  }),
};

/** The value of every setting: null where it is unset and has no default. */
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
