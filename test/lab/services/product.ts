import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { addressOf, LAB_DOMAIN } from "#test/lab/addresses.ts";
import type { Network } from "#test/lab/driver.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { CYMRU_ZONES } from "#test/lab/services/zones.ts";
import { LAB_RANGES, type Region } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Nodes in which a control plane can run. */
export type Hub = "hub" | "hub2";

/** Answer of the API. */
export interface LabAnswer {
  readonly status: number;
  readonly text: string;
  /** Parsed body; {} if it is not JSON. */
  readonly body: Readonly<Record<string, never>> & {
    readonly data: never;
    readonly error: never;
    readonly meta: never;
  };
}

/** A call of the API. */
export interface LabCall {
  readonly method?: string;
  readonly key?: string;
  /** Whether the operator makes the call. */
  readonly operator?: boolean;
  readonly body?: unknown;
  /** Node that makes the call. Default: the control plane's own. */
  readonly from?: string;
  /** Default: 30 s. */
  readonly timeoutMs?: number;
}

/** A control plane in the lab. */
export interface LabControlPlane {
  readonly hub: Hub;
  /** The running process. */
  readonly daemon: Daemon;
  /** Kills the process (SIGKILL) and waits until it has ended. */
  kill(): Promise<void>;
  /** Starts it again with the same settings after it has ended, and waits until it listens. */
  start(): Promise<void>;
  call(path: string, call?: LabCall): Promise<LabAnswer>;
  /** Creates an account with a key and returns the key. */
  createKey(plan?: string): Promise<string>;
}

/** Secrets that the replicas of one service share. */
export interface Secrets {
  readonly adminToken: string;
  readonly masterKey: string;
}

const NOTHING = {} as LabAnswer["body"];
const HTTP_PORT = 8080;
const GRPC_PORT = 50_051;

/** Outside sources of an agent in the lab. */
export const SOURCES = {
  VANTAGE_CYMRU_ZONES: CYMRU_ZONES,
  VANTAGE_RDAP_BOOTSTRAP_URL: "http://rdap.lab.test/bootstrap",
  VANTAGE_WHOIS_SERVER: "whois.lab.test",
} as const;

/** Regions as the product names them, with the location of each. */
export const PLACES: Readonly<Record<Region, Place>> = {
  eu: { region: "eu-west", city: "Frankfurt", country: "DE", latlong: "50.11,8.68" },
  us: { region: "us-east", city: "Ashburn", country: "US", latlong: "39.04,-77.49" },
  ap: { region: "ap-southeast", city: "Singapore", country: "SG", latlong: "1.35,103.82" },
};

/** Creates the secrets of a new service. */
export function makeSecrets(): Secrets {
  return { adminToken: randomBytes(24).toString("hex"), masterKey: randomBytes(32).toString("base64") };
}

/** Starts PostgreSQL in the node `db` and resolves with its URL, which is valid in every node. */
export async function startDatabase(
  network: Network,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly daemon: Daemon }> {
  const order = { root: join(network.folder, "postgres"), address: addressOf(network.topology, "db"), environment };
  const command = [process.execPath, `${ROOT}/test/lab/services/database-server.ts`];
  const input = `${JSON.stringify(order)}\n`;
  const daemon = await startDaemon(network, {
    node: "db",
    command,
    input,
    ready: "ready ",
    lastSignal: "TERM",
  });
  return { daemon, url: /ready (\S+)/.exec(daemon.log())?.[1] ?? "" };
}

/** Starts a control plane and waits until it listens. */
export async function startControlPlane(
  network: Network,
  hub: Hub,
  databaseUrl: string,
  secrets: Secrets,
  settings: Readonly<Record<string, string>> = {},
): Promise<LabControlPlane> {
  const address = addressOf(network.topology, hub);
  const dataDir = join(network.folder, hub);
  mkdirSync(dataDir, { recursive: true });
  const start = (): Promise<Daemon> =>
    startDaemon(network, {
      node: hub,
      command: [process.execPath, `${ROOT}/control-plane/main.ts`],
      environment: {
        DATABASE_URL: databaseUrl,
        VANTAGE_HTTP_ADDR: `${address}:${HTTP_PORT}`,
        VANTAGE_GRPC_ADDR: `${address}:${GRPC_PORT}`,
        VANTAGE_GRPC_ADVERTISE: dialName(hub),
        VANTAGE_METRICS_ADDR: "off",
        VANTAGE_ADMIN_TOKEN: secrets.adminToken,
        VANTAGE_MASTER_KEY: secrets.masterKey,
        VANTAGE_DATA_DIR: dataDir,
        ...settings,
      },
      ready: "control plane listening",
    });
  let daemon = await start();
  const call = (path: string, options: LabCall = {}): Promise<LabAnswer> =>
    request(network, options.from ?? hub, `http://${address}:${HTTP_PORT}${path}`, {
      ...options,
      ...(options.operator === true ? { token: secrets.adminToken } : {}),
    });
  return {
    hub,
    get daemon() {
      return daemon;
    },
    async kill() {
      daemon.kill("SIGKILL");
      await daemon.exited;
    },
    async start() {
      daemon = await start();
    },
    call,
    async createKey(plan = "captain") {
      const made = await call("/api/admin/keys", { operator: true, body: { plan } });
      if (made.status !== 201) throw new Error(made.text);
      return (made.body.data as { key: string }).key;
    },
  };
}

/** Location that an agent reports. */
export interface Place {
  readonly region: string;
  readonly city: string;
  readonly country: string;
  readonly latlong: string;
}

/**
 * Starts an agent in the probe of a region, enrolled by a token of the first control plane, and waits until it is
 * attached. `settings` override the lab's own. A `place` other than the region's starts a second agent there.
 */
export async function startAgent(
  network: Network,
  region: Region,
  planes: readonly LabControlPlane[],
  files: { readonly trustAnchorFile: string; readonly rootFile: string },
  settings: Readonly<Record<string, string>> = {},
  place: Place = PLACES[region],
): Promise<Daemon> {
  const node = `probe-${region}`;
  const { topology } = network;
  const joined = await planes[0]?.call("/api/admin/probe-tokens", { operator: true, body: { region: place.region } });
  if (joined?.status !== 201) throw new Error(`no join token: ${joined?.text}`);
  const hosts = planes.map(({ hub }) => `${addressOf(topology, hub)} ${hub}.${LAB_DOMAIN}`);
  network.etc(node, "hosts", ["127.0.0.1 localhost", "::1 localhost", ...hosts, ""].join("\n"));
  network.etc(node, "resolv.conf", `nameserver ${addressOf(topology, `resolver-${region}`)}\n`);
  return await startDaemon(network, {
    node,
    command: [process.execPath, `${ROOT}/probe-agent/main.ts`],
    environment: {
      VANTAGE_CONTROL_PLANE: planes.map(({ hub }) => dialName(hub)).join(","),
      VANTAGE_JOIN_TOKEN: (joined.body.data as { token: string }).token,
      VANTAGE_STATE_DIR: join(network.folder, `agent-${place.region}`),
      VANTAGE_AGENT_METRICS_ADDR: "off",
      VANTAGE_REGION: place.region,
      VANTAGE_CITY: place.city,
      VANTAGE_COUNTRY: place.country,
      VANTAGE_LATLONG: place.latlong,
      VANTAGE_ALLOW_TARGETS: LAB_RANGES.join(","),
      VANTAGE_ALLOW_NAMES: "test",
      VANTAGE_DNS_SERVERS: addressOf(topology, `resolver-${region}`),
      ...SOURCES,
      VANTAGE_TRUST_ANCHORS: files.trustAnchorFile,
      NODE_EXTRA_CA_CERTS: files.rootFile,
      ...settings,
    },
    ready: '"attached"',
  });
}

function dialName(hub: Hub): string {
  return `${hub}.${LAB_DOMAIN}:${GRPC_PORT}`;
}

async function request(
  network: Network,
  from: string,
  url: string,
  { method, key, token, body, timeoutMs = 30_000 }: LabCall & { readonly token?: string },
): Promise<LabAnswer> {
  const headers = [
    ...(key === undefined ? [] : [`x-api-key: ${key}`]),
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ["content-type: application/json"]),
  ];
  const command = ["curl", "-sS", "-g", "-m", String(timeoutMs / 1_000), "-w", "\\n%{http_code}"].concat(
    ["-X", method ?? (body === undefined ? "GET" : "POST")],
    headers.flatMap((header) => ["-H", header]),
    body === undefined ? [] : ["--data-binary", JSON.stringify(body)],
    [url],
  );
  const { stdout, stderr } = await network.run(from, command, timeoutMs + 1_000);
  const cut = stdout.lastIndexOf("\n");
  const text = stdout.slice(0, cut);
  const status = Number(stdout.slice(cut + 1)) || 0;
  if (status === 0) return { status, text: stderr, body: NOTHING };
  try {
    return { status, text, body: JSON.parse(text) as LabAnswer["body"] };
  } catch {
    return { status, text, body: NOTHING };
  }
}
