import { bringUp, type Network } from "#test/lab/driver.ts";
import { makeAuthority, tlsaOf } from "#test/lab/services/authority.ts";
import { createMovableClock, type MovableClock } from "#test/lab/services/clock.ts";
import type { Daemon } from "#test/lab/services/daemon.ts";
import { startNameServers, type NameServers } from "#test/lab/services/name-servers.ts";
import {
  makeSecrets,
  startAgent,
  startControlPlane,
  startDatabase,
  type Hub,
  type LabControlPlane,
} from "#test/lab/services/product.ts";
import { startResolvers, type Resolvers } from "#test/lab/services/resolvers.ts";
import { makeMailCertificate, startServices } from "#test/lab/services/services.ts";
import { startWeb, type Web } from "#test/lab/services/web.ts";
import { LAB, REGIONS, type Region } from "#test/lab/topology.ts";

/**
 * The whole lab: the network, its DNS tree with a resolver for each region, its web, its mail and registry services.
 */
export interface Lab {
  readonly network: Network;
  readonly names: NameServers;
  readonly resolvers: Resolvers;
  readonly web: Web;
  /** The servers of the node `svc`. */
  readonly services: Daemon;
  close(): Promise<void>;
}

/** The product in the lab: a database, replicas of the control plane, an agent for each region. */
export interface Service {
  readonly databaseUrl: string;
  readonly planes: readonly LabControlPlane[];
  readonly agents: ReadonlyMap<Region, Daemon>;
  /** The first of the replicas. */
  readonly plane: LabControlPlane;
  /** The time of the product with `movableClock`: of the database, the replicas, the agents and the node `svc`. */
  readonly clock: MovableClock;
}

/** The parts of the product to start, and their settings in addition to the lab's own. */
export interface ServiceOptions {
  /** Default: one, in `hub`. */
  readonly hubs?: readonly [Hub, ...Hub[]];
  /** Default: all. */
  readonly regions?: readonly Region[];
  readonly planeSettings?: Readonly<Record<string, string>>;
  readonly agentSettings?: Readonly<Record<string, string>>;
  /** Whether a test moves the clock. It needs libfaketime. */
  readonly movableClock?: boolean;
}

/** Starts everything except the product. Rejects, and leaves nothing behind, if something does not start. */
export function startLab(): Promise<Lab> {
  return bringUpWith((network) => startAround(network));
}

/** Starts everything with the product in it: real processes, agents enrolled by token. */
export function startServiceLab(options: ServiceOptions = {}): Promise<Lab & { readonly service: Service }> {
  return bringUpWith(async (network) => {
    const clock = createMovableClock(network.folder);
    const time = options.movableClock === true ? clock : STILL;
    const [lab, { databaseUrl, planes }] = await Promise.all([
      startAround(network, time.environment),
      startPlanes(network, options, time),
    ]);
    const files = { trustAnchorFile: lab.names.trustAnchorFile, rootFile: lab.web.rootFile };
    const settings = { ...time.environment, ...options.agentSettings };
    const agents = await Promise.all(
      (options.regions ?? REGIONS).map(
        async (region) => [region, await startAgent(network, region, planes, files, settings)] as const,
      ),
    );
    return { ...lab, service: { databaseUrl, planes, plane: planes[0], agents: new Map(agents), clock } };
  });
}

/** Environments of programs that have the machine's own time. */
type TimeEnvironments = Pick<MovableClock, "environment" | "singleThreaded">;
const STILL: TimeEnvironments = { environment: {}, singleThreaded: {} };

async function bringUpWith<T>(start: (network: Network) => Promise<T>): Promise<T> {
  const network = await bringUp(LAB);
  try {
    return await start(network);
  } catch (error) {
    await network.close();
    throw error;
  }
}

async function startAround(network: Network, environment: Readonly<Record<string, string>> = {}): Promise<Lab> {
  const authority = await makeAuthority(network.folder);
  const mail = await makeMailCertificate(network.folder, authority);
  const [{ names, resolvers }, web, services] = await Promise.all([
    startDns(network, tlsaOf(mail)),
    startWeb(network, authority),
    startServices(network, environment),
  ]);
  return { network, names, resolvers, web, services, close: () => network.close() };
}

async function startDns(
  network: Network,
  mailKey: string,
): Promise<{ readonly names: NameServers; readonly resolvers: Resolvers }> {
  const names = await startNameServers(network, mailKey);
  return { names, resolvers: await startResolvers(network, names.trustAnchorFile) };
}

async function startPlanes(
  network: Network,
  { hubs = ["hub"], planeSettings }: ServiceOptions,
  { environment, singleThreaded }: TimeEnvironments,
): Promise<{ readonly databaseUrl: string; readonly planes: readonly [LabControlPlane, ...LabControlPlane[]] }> {
  const { url: databaseUrl } = await startDatabase(network, singleThreaded);
  const settings = { ...environment, ...planeSettings };
  const secrets = makeSecrets();
  const [first, ...others] = hubs;
  // The first one migrates the database, so that the others have nothing to migrate.
  const plane = await startControlPlane(network, first, databaseUrl, secrets, settings);
  const rest = await Promise.all(others.map((hub) => startControlPlane(network, hub, databaseUrl, secrets, settings)));
  return { databaseUrl, planes: [plane, ...rest] };
}
