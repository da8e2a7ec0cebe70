import { addressOf, aliases, interfaces } from "#test/lab/addresses.ts";
import { packetFilter } from "#test/lab/configure.ts";
import type { Network } from "#test/lab/driver.ts";
import type { Authority } from "#test/lab/services/authority.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** The lab's web. */
export interface Web {
  /** PEM of the root of its valid certificates, for NODE_EXTRA_CA_CERTS of agents. */
  readonly rootFile: string;
  readonly daemon: Daemon;
}

/** Starts the servers of the node `web`. The address named `filtered` does not answer on port 443. */
export async function startWeb(network: Network, { rootFile }: Authority): Promise<Web> {
  const { topology, folder } = network;
  const own = interfaces(topology).filter(({ node }) => node === "web");
  const order = {
    folder,
    addresses: own.flatMap(({ ip }) => [ip[4], ip[6]]),
    names: ["web.lab.test", "www.signed.test", "www.nsec3.test", "www.unsigned.test", "mta-sts.mail.test"],
    variants: aliases(topology)
      .filter(({ node }) => node === "web")
      .map(({ name, ip }) => ({ name, host: `${name}.tls.test`, addresses: [ip[4], ip[6]] })),
  };
  const command = [process.execPath, `${ROOT}/test/lab/services/web-servers.ts`];
  const drops = ([4, 6] as const).map(
    (family) => `${family === 4 ? "ip" : "ip6"} daddr ${addressOf(topology, "filtered", family)} tcp dport 443 drop`,
  );
  const [daemon] = await Promise.all([
    startDaemon(network, { node: "web", command, input: `${JSON.stringify(order)}\n`, ready: "ready\n" }),
    network.nft("web", packetFilter("filtered", "input", drops)),
  ]);
  return { rootFile, daemon };
}
