import { stateDirOf } from "#shared/settings/agent-state.ts";
import type { Address } from "#shared/settings/address.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import type { Settings } from "#shared/settings/settings.ts";
import type { ResolverSource } from "#shared/settings/resolvers.ts";

/** Validated configuration of an agent. Paths are as given, relative to the agent's working directory. */
export interface Config {
  /** Replicas to dial in the form of grpc-js: host:port or dns:///name:port. */
  readonly controlPlane: readonly string[];
  readonly joinToken: string | null;
  readonly joinTokenFile: string | null;
  /** Directory of the agent's identity. The agent locks it. */
  readonly stateDir: string;
  readonly place: PlaceConfig;
  /** Maximum number of concurrent jobs over all streams. */
  readonly maxJobs: number;
  /** null uses the system's servers. */
  readonly dnsServers: readonly Address[] | null;
  /** Allowed targets beyond the public internet. */
  readonly allow: { readonly targets: readonly string[]; readonly names: readonly string[] };
  /** URL for the User-Agent. */
  readonly contactUrl: string | null;
  readonly optOutFile: string | null;
  readonly logLevel: Settings["logLevel"];
  readonly metrics: {
    /** null if disabled. Port 0 is a free port. */
    readonly address: Address | null;
    /** Whether the port is the default. If it is in use, the agent takes a free one and logs a warning. */
    readonly defaulted: boolean;
  };
  readonly sources: Sources;
  /** The operator's data files; null for none, or for the built-in data. */
  readonly files: Files;
  /** Path of the Chromium to run; null for the one on PATH. */
  readonly chromium: string | null;
  /** Pages that the browser loads at the same time. */
  readonly browserSlots: number;
  readonly exporter: ExporterConfig;
}

/** Configuration of the exporter. */
export interface ExporterConfig {
  /** Listeners; empty: none. */
  readonly addresses: readonly Address[];
  /** null: the built-in modules. */
  readonly configFile: string | null;
  /** null: no TLS and no users. */
  readonly webConfigFile: string | null;
  /** Allowed targets beyond the public internet; null: every one where all listeners are loopback. */
  readonly allowTargets: readonly string[] | null;
  readonly externalUrl: string | null;
  /** Prefix of all paths without a final slash; "" for none. */
  readonly routePrefix: string;
  readonly timeoutOffsetMs: number;
  readonly historyLimit: number;
}

/** Configured location of the agent; fields are null if not set. */
export interface PlaceConfig {
  readonly region: string;
  readonly city: string | null;
  /** ISO 3166-1 alpha-2, in capitals. */
  readonly country: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly asn: number | null;
  readonly tags: readonly string[];
}

/** External services that tools query. URLs have no trailing slash. */
interface Sources {
  /** null for the built-in list. */
  readonly resolvers: ResolverSource | null;
  readonly rdapBootstrapUrl: string;
  /** null to start with IANA's referral. */
  readonly whoisServer: Address | null;
  readonly cymruZones: { readonly origin: string; readonly origin6: string; readonly asn: string };
  readonly waybackUrl: string;
  readonly waybackCdxUrl: string;
  readonly psiUrl: string;
  readonly psiKey: string | null;
  readonly greencheckUrl: string;
  readonly pdnsUrl: string | null;
}

/** Paths of the operator's data files. */
interface Files {
  readonly trustAnchors: string | null;
  readonly geoDb: string | null;
  readonly asnDb: string | null;
  readonly hstsPreload: string | null;
  readonly ctLogList: string | null;
  readonly techRulesDir: string | null;
  readonly aiBots: string | null;
}

/** A configuration, or the line to print before exiting with status 1. */
type ReadConfig = { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly line: string };

/**
 * Reads and checks the environment and returns the first fault. A pure function: it opens no file and looks up no name.
 */
export function readConfig(environment: Environment): ReadConfig {
  const read = readSettings(environment, "agent");
  if (!read.ok) return read;
  const { settings, given } = read;
  const { agentMetricsAddr } = settings;
  const config: Config = {
    controlPlane: settings.controlPlane,
    joinToken: settings.joinToken,
    joinTokenFile: settings.joinTokenFile,
    stateDir: stateDirOf(settings),
    place: placeOf(settings),
    maxJobs: settings.maxJobs,
    dnsServers: settings.dnsServers,
    allow: { targets: settings.allowTargets ?? [], names: settings.allowNames ?? [] },
    contactUrl: settings.contactUrl,
    optOutFile: settings.optOutFile,
    logLevel: settings.logLevel,
    metrics: {
      address: agentMetricsAddr === "off" ? null : agentMetricsAddr,
      defaulted: !given.has("VANTAGE_AGENT_METRICS_ADDR"),
    },
    sources: sourcesOf(settings),
    files: filesOf(settings),
    chromium: settings.chromium,
    browserSlots: settings.browserSlots,
    exporter: exporterOf(settings),
  };
  return { ok: true, config };
}

function placeOf(settings: Settings): PlaceConfig {
  const { region, city, country, asn } = settings;
  const { latitude, longitude } = settings.latlong ?? { latitude: null, longitude: null };
  return { region, city, country, latitude, longitude, asn, tags: settings.tags ?? [] };
}

function exporterOf(settings: Settings): ExporterConfig {
  const { exporterExternalUrl: externalUrl, exporterRoutePrefix: routePrefix } = settings;
  const prefix = routePrefix ?? (externalUrl === null ? "" : new URL(externalUrl).pathname);
  return {
    addresses: settings.exporter ?? [],
    configFile: settings.exporterConfigFile,
    webConfigFile: settings.exporterWebConfigFile,
    allowTargets: settings.exporterAllowTargets,
    externalUrl,
    routePrefix: prefix.endsWith("/") ? prefix.slice(0, -1) : prefix,
    timeoutOffsetMs: settings.exporterTimeoutOffset,
    historyLimit: settings.exporterHistoryLimit,
  };
}

function sourcesOf(settings: Settings): Sources {
  const [origin = "", origin6 = "", asn = ""] = settings.cymruZones;
  return {
    resolvers: settings.resolvers,
    rdapBootstrapUrl: settings.rdapBootstrapUrl,
    whoisServer: settings.whoisServer,
    cymruZones: { origin, origin6, asn },
    waybackUrl: settings.waybackUrl,
    waybackCdxUrl: settings.waybackCdxUrl,
    psiUrl: settings.psiUrl,
    psiKey: settings.psiKey,
    greencheckUrl: settings.greencheckUrl,
    pdnsUrl: settings.pdnsUrl,
  };
}

function filesOf(settings: Settings): Files {
  return {
    trustAnchors: settings.trustAnchors,
    geoDb: settings.geoDb,
    asnDb: settings.asnDb,
    hstsPreload: settings.hstsPreloadFile,
    ctLogList: settings.ctLogList,
    techRulesDir: settings.techRulesDir,
    aiBots: settings.aiBotsFile,
  };
}
