import { AGENT_SETTINGS } from "#shared/settings/agent.ts";
import { EXPORTER_SETTINGS } from "#shared/settings/exporter.ts";
import { type ValueOf, row } from "#shared/settings/row.ts";
import { nameServer, listenAddress, dialTarget, optionalListenAddress } from "#shared/settings/address.ts";
import {
  choice,
  list,
  path,
  base64Key,
  daysAndFailures,
  duration,
  instant,
  integer,
  text,
} from "#shared/settings/kinds.ts";
import { cidr, dnsName, url, baseUrl, databaseUrl, mailbox } from "#shared/settings/network.ts";
import { mailServer } from "#shared/settings/mail-server.ts";

const hub = row("control-plane");

const DAY = 86_400_000;
const VISIBLE = /^[\x21-\x7e]{1,512}$/;
/** Five fields. What they may contain is checked at the start. */
const CRON = /^[\x21-\x7e]{1,200}(?: {1,9}[\x21-\x7e]{1,200}){4}$/;
const upToTenYears = duration(1, 3_650 * DAY, "at most 3650d");

/** Settings that the control plane uses. */
const CONTROL_PLANE_SETTINGS = {
  databaseUrl: hub("DATABASE_URL", databaseUrl, {
    absent: "embedded",
    meaning: "PostgreSQL 15 or later; without it npm start runs an embedded one",
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
  grpcAdvertise: hub("VANTAGE_GRPC_ADVERTISE", dialTarget, {
    absent: "none",
    meaning: "address that agents dial for this replica",
  }),
  baseUrl: hub("VANTAGE_BASE_URL", baseUrl, {
    absent: "http://VANTAGE_HTTP_ADDR, or localhost",
    meaning: "address in links; the Origin of pages that may send forms and call the agent endpoint",
  }),
  tlsCert: hub("VANTAGE_TLS_CERT", path("a PEM certificate chain"), {
    absent: "none: behind a proxy",
    meaning: "TLS on the API",
  }),
  tlsKey: hub("VANTAGE_TLS_KEY", path("a PEM private key"), { absent: "none", meaning: "key of VANTAGE_TLS_CERT" }),
  trustedProxies: hub("VANTAGE_TRUSTED_PROXIES", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none: X-Forwarded-For is ignored",
    meaning: "proxies whose X-Forwarded-For is trusted",
  }),
  adminToken: hub("VANTAGE_ADMIN_TOKEN", text("1 to 512 visible ASCII characters", VISIBLE), {
    absent: "generated into the data directory",
    meaning: "the operator's bearer token",
    secret: true,
  }),
  masterKey: hub("VANTAGE_MASTER_KEY", base64Key, {
    absent: "generated into the data directory",
    meaning: "encrypts secrets in the database; a replica with another key does not start",
    secret: true,
  }),
  signUp: hub("VANTAGE_SIGN_UP", choice("closed", "open"), {
    default: "closed",
    meaning: "open: anybody may open an account on the plan free, by mail",
  }),
  signup: hub("VANTAGE_SIGNUP", choice("open", "invite", "closed"), {
    absent: "VANTAGE_SIGN_UP",
    meaning: "another name of VANTAGE_SIGN_UP, which stands above it; invite is as closed, which allows invites",
  }),
  smtpUrl: hub("VANTAGE_SMTP_URL", mailServer, {
    absent: "none: no mail",
    meaning: "mail server, with user and password if it needs them",
    secret: true,
  }),
  mailFrom: hub("VANTAGE_MAIL_FROM", mailbox, { absent: "none", meaning: "sender of mail" }),
  plansFile: hub("VANTAGE_PLANS", path("a JSON file"), {
    absent: "built-in table",
    meaning: "JSON file overriding rows of the plan table",
  }),
  blackboxConfig: hub("VANTAGE_BLACKBOX_CONFIG", path("a blackbox.yml"), {
    absent: "built-in modules alone",
    meaning: "modules that /api/v4/probe offers beside the built-in ones",
  }),
  openPerMinute: hub("VANTAGE_OPEN_PER_MINUTE", integer(0, 1_000_000), {
    default: "20",
    meaning: "open tier: requests per minute and client address (IPv6: /64)",
  }),
  openPerDay: hub("VANTAGE_OPEN_PER_DAY", integer(0, 1_000_000_000), {
    default: "200",
    meaning: "open tier: requests per day and client address",
  }),
  targetBudget: hub("VANTAGE_TARGET_BUDGET", integer(1, 1_000_000), {
    default: "300",
    meaning: "on-demand calls per minute to one target, over all accounts",
  }),
  v1V2Sunset: hub("VANTAGE_V1_V2_SUNSET", instant, {
    default: "2026-10-01T00:00:00Z",
    meaning: "from this time API versions 1 and 2 answer 410",
  }),
  legacySignatureUntil: hub("VANTAGE_LEGACY_SIGNATURE_UNTIL", instant, {
    default: "2026-07-01T00:00:00Z",
    meaning: "until this time webhooks also carry the legacy signature",
  }),
  webhookRetrySchedule: hub(
    "VANTAGE_WEBHOOK_RETRY_SCHEDULE",
    list(duration(0, 30 * DAY, "at most 30d"), "durations such as 0s,5s,5m"),
    { default: "0s,5s,5m,30m,2h,5h,10h,10h", meaning: "delay before each delivery attempt" },
  ),
  webhookTimeout: hub("VANTAGE_WEBHOOK_TIMEOUT", duration(100, 300_000, "100ms to 5m"), {
    default: "15s",
    meaning: "time limit of one delivery attempt",
  }),
  webhookAutoOff: hub("VANTAGE_WEBHOOK_AUTO_OFF", daysAndFailures, {
    default: "5d/20",
    meaning: "days without a success and failed attempts after which a webhook becomes inactive",
  }),
  backupDir: hub("VANTAGE_BACKUP_DIR", path("a directory"), {
    absent: "none",
    meaning: "where backups by schedule are written",
  }),
  backupSchedule: hub("VANTAGE_BACKUP_SCHEDULE", text("a cron expression such as 0 3 * * *", CRON), {
    absent: "none: no backups by themselves",
    meaning: "when backups are written, in UTC",
  }),
  backupKeep: hub("VANTAGE_BACKUP_KEEP", integer(1, 10_000), {
    default: "7",
    meaning: "how many backups by schedule are kept",
  }),
  backupPassphraseFile: hub("VANTAGE_BACKUP_PASSPHRASE_FILE", path("a file with a passphrase in its first line"), {
    absent: "none: backups are not encrypted",
    meaning: "encrypts backups, as age does with a passphrase",
  }),
  retentionChecks: hub("VANTAGE_RETENTION_CHECKS", upToTenYears, {
    default: "90d",
    meaning: "how long checks of monitors are kept",
  }),
  retentionDeliveries: hub("VANTAGE_RETENTION_DELIVERIES", upToTenYears, {
    default: "30d",
    meaning: "how long events and their deliveries are kept",
  }),
  retentionMeasurements: hub("VANTAGE_RETENTION_MEASUREMENTS", upToTenYears, {
    default: "7d",
    meaning: "how long measurements are kept",
  }),
};

const both = row("both");

/** Ordered from the fewest lines to the most. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

/** Settings that the control plane and the agents use. */
const COMMON_SETTINGS = {
  dataDir: both("VANTAGE_DATA_DIR", path("a directory"), {
    default: "./.vantage",
    meaning: "embedded database and generated keys; npm start and deploy/vantage use the one in the clone",
  }),
  dnsServers: both("VANTAGE_DNS_SERVERS", list(nameServer, "IP address[:port]"), {
    absent: "the system's",
    meaning: "DNS servers for lookups",
  }),
  allowTargets: both("VANTAGE_ALLOW_TARGETS", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none",
    meaning: "private ranges that every user of the agent can reach",
  }),
  allowNames: both("VANTAGE_ALLOW_NAMES", list(dnsName, "name suffixes such as corp.internal"), {
    absent: "none",
    meaning: "suffixes of special names that every user of the agent can reach",
  }),
  contactUrl: both("VANTAGE_CONTACT_URL", url("an http, https or mailto URL", ["http:", "https:", "mailto:"]), {
    absent: "the project's",
    meaning: "contact for owners of checked sites; part of the User-Agent",
  }),
  optOutFile: both("VANTAGE_OPT_OUT_FILE", path("a file of targets that are never checked"), {
    absent: "none",
    meaning: "targets whose owners opted out of checks",
  }),
  logLevel: both("VANTAGE_LOG_LEVEL", choice(...LOG_LEVELS), {
    default: "info",
    meaning: "least severe level that is logged; info logs one line per request",
  }),
};

/** Every setting. The key is the name in the typed result of `readSettings`. */
export const SETTINGS = { ...CONTROL_PLANE_SETTINGS, ...COMMON_SETTINGS, ...AGENT_SETTINGS, ...EXPORTER_SETTINGS };

/** The value of every setting; null if it is unset and has no default. */
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
