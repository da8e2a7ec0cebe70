import type { AllowLists } from "#shared/internet/egress.ts";
import { formatAddress, linkedUrl, type Address } from "#shared/settings/address.ts";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** Validated configuration of the control plane. Paths are unchanged: relative ones start at its working directory. */
export interface Config {
  readonly databaseUrl: string;
  readonly http: Address;
  readonly grpc: Address;
  /** host:port at which agents reach this replica; null if not set. */
  readonly grpcAdvertise: string | null;
  readonly metrics: MetricsListener;
  /** Without a trailing slash, with the path that is before all paths of the service, if there is one. */
  readonly baseUrl: string;
  /** Whether that is VANTAGE_BASE_URL; else it is made of the listener's address. */
  readonly isBaseUrlSet: boolean;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** CIDR ranges whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  readonly dataDir: string;
  /** null if it is generated into the data directory. */
  readonly adminToken: string | null;
  /** 32 bytes; null if it is generated into the data directory. */
  readonly masterKey: Uint8Array | null;
  readonly plansFile: string | null;
  readonly openPerMinute: number;
  readonly openPerDay: number;
  /** Maximum number of on-demand calls per minute at one target. */
  readonly targetBudget: number;
  readonly v1V2Sunset: Date;
  /** open: anybody may open an account, if mail is sent. */
  readonly signUp: Settings["signUp"];
  /** null: no mail is sent. */
  readonly mail: MailConfig | null;
  /** Retention in milliseconds. */
  readonly retention: { readonly checks: number; readonly measurements: number; readonly deliveries: number };
  /** Delivery of webhooks; times in milliseconds. */
  readonly webhooks: {
    readonly schedule: readonly number[];
    readonly timeoutMs: number;
    readonly legacyUntil: Date;
    /** When a webhook without a success becomes inactive. */
    readonly autoOff: { readonly ms: number; readonly failures: number };
  };
  /** DNS servers for the names of webhooks; null: those of the system. */
  readonly dnsServers: readonly string[] | null;
  /** Targets beyond the public internet that webhooks can reach. */
  readonly allow: AllowLists;
  readonly contactUrl: string | null;
  readonly optOutFile: string | null;
  /** File of modules for /api/v4/probe; null: the built-in ones alone. */
  readonly blackboxConfig: string | null;
  readonly logLevel: Settings["logLevel"];
  readonly backups: BackupConfig;
}

/** Backups of the database. */
export interface BackupConfig {
  /** Where those of the schedule are written; null: nowhere. */
  readonly directory: string | null;
  /** When, as a cron expression in UTC; null: never. */
  readonly schedule: string | null;
  /** How many files are kept. */
  readonly keep: number;
  /** File whose first line encrypts them; null: they are not encrypted. */
  readonly passphraseFile: string | null;
}

/** Where mail goes to, and its sender: an address, or a name with the address in angle brackets. */
export interface MailConfig {
  readonly server: MailServer;
  readonly from: string;
}

/** The listener of Prometheus metrics. */
interface MetricsListener {
  /** null if it is off. Port 0 is any free port. */
  readonly address: Address | null;
  /** Whether the port is the default. If a default port is in use, a free one is chosen with a warning. */
  readonly defaulted: boolean;
}

/** The configuration, or one line to print before exiting with status 1. */
type ReadConfig = { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly line: string };

/** Parses the environment and reports its first fault. Pure: opens no file and looks up no name. */
export function readConfig(environment: Environment): ReadConfig {
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return read;
  const { settings } = read;
  const { databaseUrl } = settings;
  if (databaseUrl === null) {
    return { ok: false, line: "DATABASE_URL must be set (npm start runs its own PostgreSQL)" };
  }
  return { ok: true, config: toConfig(settings, databaseUrl, read.given) };
}

function toConfig(settings: Settings, databaseUrl: string, given: ReadonlySet<string>): Config {
  const { tlsCert, tlsKey, metricsAddr, smtpUrl, mailFrom } = settings;
  const tls = tlsCert !== null && tlsKey !== null ? { certFile: tlsCert, keyFile: tlsKey } : null;
  return {
    databaseUrl,
    http: settings.httpAddr,
    grpc: settings.grpcAddr,
    grpcAdvertise: settings.grpcAdvertise,
    metrics: { address: metricsAddr === "off" ? null : metricsAddr, defaulted: !given.has("VANTAGE_METRICS_ADDR") },
    baseUrl: settings.baseUrl ?? linkedUrl(settings.httpAddr, tls !== null),
    isBaseUrlSet: settings.baseUrl !== null,
    tls,
    trustedProxies: settings.trustedProxies ?? [],
    dataDir: settings.dataDir,
    adminToken: settings.adminToken,
    masterKey: settings.masterKey,
    plansFile: settings.plansFile,
    openPerMinute: settings.openPerMinute,
    openPerDay: settings.openPerDay,
    targetBudget: settings.targetBudget,
    v1V2Sunset: settings.v1V2Sunset,
    signUp: !given.has("VANTAGE_SIGN_UP") && settings.signup === "open" ? "open" : settings.signUp,
    mail: smtpUrl !== null && mailFrom !== null ? { server: smtpUrl, from: mailFrom } : null,
    retention: {
      checks: settings.retentionChecks,
      measurements: settings.retentionMeasurements,
      deliveries: settings.retentionDeliveries,
    },
    webhooks: {
      schedule: settings.webhookRetrySchedule,
      timeoutMs: settings.webhookTimeout,
      legacyUntil: settings.legacySignatureUntil,
      autoOff: settings.webhookAutoOff,
    },
    dnsServers: settings.dnsServers?.map(formatAddress) ?? null,
    allow: { targets: settings.allowTargets ?? [], names: settings.allowNames ?? [] },
    contactUrl: settings.contactUrl,
    optOutFile: settings.optOutFile,
    blackboxConfig: settings.blackboxConfig,
    logLevel: settings.logLevel,
    backups: {
      directory: settings.backupDir,
      schedule: settings.backupSchedule,
      keep: settings.backupKeep,
      passphraseFile: settings.backupPassphraseFile,
    },
  };
}
