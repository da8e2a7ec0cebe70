import { listenerUrl, type Address } from "#shared/settings/address.ts";
import { readSettings, type Environment } from "#shared/settings-parse.ts";
import type { Settings } from "#shared/settings.ts";

/** Everything the control plane takes from its environment, checked. Paths are as given: relative to its directory. */
export interface Config {
  readonly databaseUrl: string;
  readonly http: Address;
  readonly grpc: Address;
  /** What agents dial to reach this replica; null: unsaid. */
  readonly grpcAdvertise: string | null;
  readonly metrics: MetricsListener;
  /** Without slash at its end. */
  readonly baseUrl: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly dataDir: string;
  /** null: generated into the data directory. */
  readonly adminToken: string | null;
  /** 32 bytes; null: generated into the data directory. */
  readonly masterKey: Uint8Array | null;
  readonly plansFile: string | null;
  readonly openPerMinute: number;
  readonly openPerDay: number;
  /** On-demand calls a minute at one target. */
  readonly targetBudget: number;
  readonly v1V2Sunset: Date;
  /** Milliseconds. */
  readonly retention: { readonly measurements: number };
  readonly optOutFile: string | null;
  readonly logLevel: Settings["logLevel"];
}

/** The listener of Prometheus metrics. */
interface MetricsListener {
  /** null: off. Port 0: a free one. */
  readonly address: Address | null;
  /** True where nobody asked for this port: one in use gives way to a free one, with a warning. */
  readonly defaulted: boolean;
}

/** The configuration, or the one line to print before ending with status 1. */
type ReadConfig =
  | {
      readonly ok: true;
      readonly config: Config;
      /** Lines about settings that are set but not yet in use. */
      readonly notYetUsed: readonly string[];
    }
  | { readonly ok: false; readonly line: string };

/** Reads and checks the environment; the first fault decides. Pure: no file is opened, no name looked up. */
export function readConfig(environment: Environment): ReadConfig {
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return read;
  const { settings } = read;
  const { databaseUrl } = settings;
  if (databaseUrl === null) {
    return { ok: false, line: "DATABASE_URL must be set (npm start runs its own PostgreSQL)" };
  }
  const defaulted = !read.given.has("VANTAGE_METRICS_ADDR");
  return { ok: true, config: view(settings, databaseUrl, defaulted), notYetUsed: read.notYetUsed };
}

function view(settings: Settings, databaseUrl: string, metricsDefaulted: boolean): Config {
  const { tlsCert, tlsKey, metricsAddr } = settings;
  const tls = tlsCert !== null && tlsKey !== null ? { certFile: tlsCert, keyFile: tlsKey } : null;
  return {
    databaseUrl,
    http: settings.httpAddr,
    grpc: settings.grpcAddr,
    grpcAdvertise: settings.grpcAdvertise,
    metrics: { address: metricsAddr === "off" ? null : metricsAddr, defaulted: metricsDefaulted },
    baseUrl: settings.baseUrl ?? listenerUrl(settings.httpAddr, tls !== null),
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
    retention: {
      measurements: settings.retentionMeasurements,
    },
    optOutFile: settings.optOutFile,
    logLevel: settings.logLevel,
  };
}
