import { addressOf, aliases } from "#test/lab/addresses.ts";
import { packetFilter } from "#test/lab/configure.ts";
import type { Network } from "#test/lab/driver.ts";
import { keepIssued, type Authority } from "#test/lab/services/authority.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { DANE_EXCHANGER } from "#test/lab/services/mail-records.ts";
import { GEO_ANSWERS } from "#test/lab/services/zones.ts";
import { REGIONS } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";
import type { Issued } from "#test/servers/pki.ts";

/** Creates the certificate of the good mail server, whose key is in the DNS. */
export async function makeMailCertificate(folder: string, authority: Authority): Promise<Issued> {
  const issued = await authority.issue({ dns: ["smtp-good.lab.test", DANE_EXCHANGER] });
  keepIssued(folder, "mail", issued);
  return issued;
}

/** Starts the servers of the node `svc`. smtp-filtered does not answer on port 25. */
export async function startServices(
  network: Network,
  environment: Readonly<Record<string, string>> = {},
): Promise<Daemon> {
  const { topology, folder } = network;
  const order = {
    folder,
    services: aliases(topology)
      .filter(({ node }) => node === "svc")
      .map(({ name, ip }) => ({ name, addresses: [ip[4], ip[6]] })),
    networks: REGIONS.map((region) => ({ prefixes: prefixesOf(network, region), answer: GEO_ANSWERS[region] })),
  };
  const drops = ([4, 6] as const).map(
    (family) =>
      `${family === 4 ? "ip" : "ip6"} daddr ${addressOf(topology, "smtp-filtered", family)} tcp dport 25 drop`,
  );
  const [daemon] = await Promise.all([
    startDaemon(network, {
      node: "svc",
      command: [process.execPath, `${ROOT}/test/lab/services/service-servers.ts`],
      environment,
      input: `${JSON.stringify(order)}\n`,
      ready: "ready\n",
    }),
    network.nft("svc", packetFilter("filtered", "input", drops)),
  ]);
  return daemon;
}

/** Returns the network of a region as the start of its addresses. */
function prefixesOf({ topology }: Network, region: string): string[] {
  return ([4, 6] as const).map((family) =>
    addressOf(topology, `probe-${region}`, family).replace(family === 4 ? /\d+$/ : /:[^:]*$/, ""),
  );
}
