import { isIP } from "node:net";
import { addressType, type AddressType } from "#probe-agent/analysis/network/address-type.ts";

/** What DNS says of one mail host. */
export interface HostFacts {
  readonly priority: number;
  /** "." for the null MX. */
  readonly host: string;
  readonly ttl: number | null;
  readonly isAlias: boolean | null;
  readonly addresses: readonly AddressFacts[];
  /** Whether both families were answered. */
  readonly complete: boolean;
  /** The name does not exist at all. */
  readonly absent: boolean;
}

/** One address and what its reverse name and network are. */
export interface AddressFacts {
  readonly ip: string;
  readonly ptr: string | null;
  /** Null where nobody answered or it was not asked. */
  readonly has_ptr: boolean | null;
  readonly fcrdns: boolean | null;
  readonly asn: number | null;
}

/** How mail to a domain is routed. */
export interface Routing {
  readonly status: string;
  /** Null where the DNS did not answer. */
  readonly nullMx: boolean | null;
  readonly implicitMx: boolean | null;
  readonly hosts: readonly HostFacts[];
  /** MX records in all; more than are looked at may be there. */
  readonly total: number;
}

const PURPOSE: Readonly<Partial<Record<AddressType, string>>> = {
  private: "a private address",
  cgnat: "an address inside a provider's network",
  loopback: "a loopback address",
  link_local: "a link-local address",
  multicast: "a multicast address",
  reserved: "a reserved address",
  documentation: "an address for documentation",
};

/** What is wrong with the mail hosts, the gravest first (RFC 5321 section 5, RFC 7505, RFC 1912 section 2.4). */
export function routingIssues(routing: Routing): string[] {
  const { nullMx, implicitMx, hosts, status, total } = routing;
  if (status === "NXDOMAIN") return ["the domain does not exist"];
  if (nullMx === true && total === 1) return hosts[0]?.priority === 0 ? [] : ["the null MX should have preference 0"];
  if (nullMx === null) return [];
  const named = hosts.filter(({ host }) => host !== ".");
  return [
    ...(total === 0 ? ["the domain has neither MX records nor an address: it gets no mail, which 0 . would say"] : []),
    ...(hosts.length > named.length ? ["a null MX (0 .) stands beside others; it must stand alone (RFC 7505)"] : []),
    ...named.flatMap(hostFaults),
    ...(implicitMx === true ? ["no MX records: mail goes to the domain's own addresses"] : singleAndEqual(named)),
    ...named.flatMap(reverseFaults),
    ...(named.length > 0 &&
    named.every(({ complete, addresses }) => complete && !addresses.some(({ ip }) => isIP(ip) === 6))
      ? ["no mail host has an IPv6 address"]
      : []),
  ];
}

function hostFaults({ host, isAlias, addresses, complete, absent }: HostFacts): string[] {
  if (isIP(host) !== 0) return [`${host}: an MX record must name a host, not an address (RFC 5321 section 5.1)`];
  return [
    ...(absent ? [`${host}: the name does not exist`] : []),
    ...(!absent && complete && addresses.length === 0 ? [`${host}: the host has no address`] : []),
    ...unreachable(host, addresses),
    ...(isAlias === true ? [`${host}: the host is an alias (CNAME), which RFC 5321 section 5.1 forbids`] : []),
  ];
}

function unreachable(host: string, addresses: readonly AddressFacts[]): string[] {
  const byPurpose = new Map<string, string[]>();
  for (const { ip } of addresses) {
    const purpose = PURPOSE[addressType(ip)];
    if (purpose !== undefined) byPurpose.set(purpose, [...(byPurpose.get(purpose) ?? []), ip]);
  }
  return [...byPurpose].map(
    ([purpose, ips]) => `${host}: ${ips.join(", ")}: ${purpose}, not reachable from the internet`,
  );
}

function reverseFaults({ host, addresses }: HostFacts): string[] {
  return addresses.flatMap(({ ip, has_ptr: named, fcrdns, ptr }) =>
    named === false
      ? [`${host}: ${ip} has no reverse name (PTR): many receivers refuse what it sends`]
      : fcrdns === false
        ? [`${host}: the reverse name of ${ip} (${ptr ?? "none"}) does not lead back to it`]
        : [],
  );
}

function singleAndEqual(named: readonly HostFacts[]): string[] {
  const priorities = named.map(({ priority }) => priority);
  const repeated = [...new Set(priorities.filter((priority, index) => priorities.indexOf(priority) !== index))];
  const names = named.map(({ host }) => host.toLowerCase());
  const twice = [...new Set(names.filter((host, index) => names.indexOf(host) !== index))];
  return [
    ...twice.map((host) => `${host}: the host stands in several MX records`),
    ...(repeated.length > 0
      ? [`several hosts share the priority ${repeated.slice(0, 5).join(", ")}: mail is spread over them`]
      : []),
    ...(named.length === 1 && named.every(isAlone)
      ? ["a single mail host: nothing takes its place when it fails, mail waits at the senders"]
      : []),
  ];
}

/** One machine, as far as the DNS tells; large services give one name with many addresses. */
function isAlone({ addresses, complete }: HostFacts): boolean {
  const families = [4, 6].map((version) => addresses.filter(({ ip }) => isIP(ip) === version).length);
  return complete && addresses.length > 0 && families.every((count) => count <= 1);
}
