import { bringUp, type Network } from "#test/lab/driver.ts";
import { startNameServers, type NameServers } from "#test/lab/services/name-servers.ts";
import { startResolvers, type Resolvers } from "#test/lab/services/resolvers.ts";
import { startWeb, type Web } from "#test/lab/services/web.ts";
import { LAB } from "#test/lab/topology.ts";

/** The whole lab: the network, its DNS tree with a resolver per region, its web. */
export interface Lab {
  readonly network: Network;
  readonly names: NameServers;
  readonly resolvers: Resolvers;
  readonly web: Web;
  close(): Promise<void>;
}

/** Brings everything up. Rejects, with nothing left behind, where something does not start. */
export async function startLab(): Promise<Lab> {
  const network = await bringUp(LAB);
  try {
    const [{ names, resolvers }, web] = await Promise.all([startDns(network), startWeb(network)]);
    return { network, names, resolvers, web, close: () => network.close() };
  } catch (error) {
    await network.close();
    throw error;
  }
}

/** The name servers and the resolvers that trust them. */
export async function startDns(
  network: Network,
): Promise<{ readonly names: NameServers; readonly resolvers: Resolvers }> {
  const names = await startNameServers(network);
  return { names, resolvers: await startResolvers(network, names.trustAnchorFile) };
}
