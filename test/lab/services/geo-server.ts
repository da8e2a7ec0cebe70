import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { lookUp, type Zones } from "#test/servers/dns-zones.ts";
import { GEO_SUBNET_ZONE } from "#test/lab/services/zones.ts";

/** A network and the answer meant for it. */
export interface GeoNetwork {
  /** First octets or groups of its addresses, e.g. "198.19.1." or "2001:db8:19:1:". */
  readonly prefixes: readonly string[];
  readonly answer: string;
}

/** EDNS client subnet (RFC 7871 section 6). */
const CLIENT_SUBNET = 8;

/**
 * Starts an authoritative name server for one zone whose answer depends on the client subnet in the query, else on the
 * sender. Everyone else gets the first network's answer.
 */
export function startGeoServer(host: string, networks: readonly GeoNetwork[]): Promise<DnsServer> {
  return startDnsServer({
    host,
    port: 53,
    authoritative: true,
    answer: (name, type, { sourceIp, message }) => {
      const subnet = message.edns?.options.find(({ code }) => code === CLIENT_SUBNET);
      const client = subnet === undefined ? sourceIp : subnetText(subnet.data);
      const network = networks.find(({ prefixes }) => prefixes.some((prefix) => client.startsWith(prefix)));
      return lookUp(zoneFor((network ?? networks[0])?.answer ?? ""), name, type, false);
    },
  });
}

function zoneFor(answer: string): Zones {
  const soa = `geo-ns.lab.test. hostmaster.lab.test. 1 3600 600 86400 60`;
  return { [GEO_SUBNET_ZONE]: { SOA: [soa], NS: ["geo-ns.lab.test."], A: [answer] } };
}

/** Formats the address of a client subnet option with zeros in its last octets. */
function subnetText(data: Uint8Array): string {
  const isIpv4 = data[1] === 1;
  const octets = [...data.subarray(4), ...Array.from({ length: 16 }, () => 0)].slice(0, isIpv4 ? 4 : 16);
  if (isIpv4) return octets.join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((octets[2 * index] ?? 0) << 8) | (octets[2 * index + 1] ?? 0)).toString(16),
  );
  return groups.join(":");
}
