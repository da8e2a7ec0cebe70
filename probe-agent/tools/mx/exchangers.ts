import { isIP } from "node:net";
import { finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { addressType, type AddressType } from "#probe-agent/analysis/network/address-type.ts";

/** DNS data of one mail host. */
export interface HostFacts {
  readonly priority: number;
  /** Host name; "." for the null MX. */
  readonly host: string;
  readonly ttl: number | null;
  /** Whether the name is an alias (CNAME); null if unknown. */
  readonly isAlias: boolean | null;
  readonly addresses: readonly AddressFacts[];
  /** Whether the lookups of both address families succeeded. */
  readonly complete: boolean;
  /** Whether the name does not exist in DNS. */
  readonly absent: boolean;
}

/** One address with its reverse name and its network. */
export interface AddressFacts {
  readonly ip: string;
  readonly ptr: string | null;
  /** Whether the address has a reverse name; null if the lookup failed or was not made. */
  readonly has_ptr: boolean | null;
  /** Whether the reverse name resolves to the address; null without a name or an answer. */
  readonly fcrdns: boolean | null;
  readonly asn: number | null;
}

/** Routing of mail to a domain. */
export interface Routing {
  /** Response code of the MX lookup. */
  readonly status: string;
  /** Whether the domain has a null MX; null if the lookup failed. */
  readonly nullMx: boolean | null;
  /** Whether mail goes to the domain's own addresses; null if the lookup failed. */
  readonly implicitMx: boolean | null;
  readonly hosts: readonly HostFacts[];
  /** Total number of MX records. Can exceed the number of `hosts`. */
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

/** Kinds of findings on mail hosts. */
export type RoutingFindingId =
  | "domain-missing"
  | "no-mail-route"
  | "null-mx-preference"
  | "null-mx-not-alone"
  | "mx-is-address"
  | "host-missing"
  | "host-without-address"
  | "host-not-public"
  | "host-is-alias"
  | "implicit-mx"
  | "host-repeated"
  | "priority-shared"
  | "single-host"
  | "no-reverse-name"
  | "reverse-name-mismatch"
  | "no-ipv6";
/** One finding on mail hosts. `where` is the host. */
type RoutingDraft = FindingDraft<RoutingFindingId>;

/** Finds faults of the mail hosts (RFC 5321 section 5, RFC 7505, RFC 1912 section 2.4). */
export function routingFindings(routing: Routing): RoutingDraft[] {
  const { nullMx, implicitMx, hosts, status, total } = routing;
  if (status === "NXDOMAIN") return [{ id: "domain-missing", message: "The domain does not exist." }];
  if (nullMx === true && total === 1) {
    const preference = hosts[0]?.priority ?? 0;
    const message = `The null MX has preference ${preference}; it should have 0.`;
    return preference === 0 ? [] : [{ id: "null-mx-preference", message }];
  }
  if (nullMx === null) return [];
  const named = hosts.filter(({ host }) => host !== ".");
  const hasReachableHost = named.some(isReachable);
  return [
    ...(total === 0 && named.length === 0 && implicitMx === false ? [UNROUTED] : []),
    ...(hosts.length > named.length ? [NOT_ALONE] : []),
    ...named.flatMap(hostFindings).map((draft) => lowerSeverity(draft, hasReachableHost)),
    ...(implicitMx === true ? [IMPLICIT] : redundancyFindings(named)),
    ...named.flatMap(reverseNamesFindings),
    ...(named.length > 0 &&
    named.every(({ complete, addresses }) => complete && !addresses.some(({ ip }) => isIP(ip) === 6))
      ? [NO_IPV6]
      : []),
  ];
}

const UNROUTED: RoutingDraft = {
  id: "no-mail-route",
  message: "The domain has neither MX records nor an address, so mail to it cannot be delivered.",
};
const NOT_ALONE: RoutingDraft = {
  id: "null-mx-not-alone",
  message: 'A null MX ("0 .") is published with other MX records; it must be the only one.',
};
const IMPLICIT: RoutingDraft = {
  id: "implicit-mx",
  message: "The domain has no MX records: mail goes to the domain's own addresses.",
};
const NO_IPV6: RoutingDraft = { id: "no-ipv6", message: "No mail host has an IPv6 address." };

/** Reports whether senders can use a host: it is a name and has a public address. */
function isReachable({ host, addresses }: HostFacts): boolean {
  return isIP(host) === 0 && addresses.some(({ ip }) => PURPOSE[addressType(ip)] === undefined);
}

/** Lowers a finding on one host to a warning if another host is reachable, because mail still arrives. */
function lowerSeverity(draft: RoutingDraft, hasReachableHost: boolean): RoutingDraft {
  return hasReachableHost ? { ...draft, severity: "warning" } : draft;
}

function hostFindings({ host, isAlias, addresses, complete, absent }: HostFacts): RoutingDraft[] {
  const about = (id: RoutingFindingId, message: string): RoutingDraft => finding(id, host, message);
  if (isIP(host) !== 0) {
    return [about("mx-is-address", `An MX record names the address ${host}; it must name a host.`)];
  }
  return [
    ...(absent ? [about("host-missing", `The name of the mail host ${host} does not exist.`)] : []),
    ...(!absent && complete && addresses.length === 0
      ? [about("host-without-address", `The mail host ${host} has no address.`)]
      : []),
    ...describeUnreachable(addresses).map((what) => about("host-not-public", `The mail host ${host} has ${what}.`)),
    ...(isAlias === true
      ? [about("host-is-alias", `The mail host ${host} is an alias (CNAME), which MX records must not name.`)]
      : []),
  ];
}

/** Describes the addresses that are not public, one text for each type of address. */
function describeUnreachable(addresses: readonly AddressFacts[]): string[] {
  const byPurpose = new Map<string, string[]>();
  for (const { ip } of addresses) {
    const purpose = PURPOSE[addressType(ip)];
    if (purpose !== undefined) byPurpose.set(purpose, [...(byPurpose.get(purpose) ?? []), ip]);
  }
  return [...byPurpose].map(
    ([purpose, ips]) => `${purpose}, which is not reachable from the internet: ${ips.join(", ")}`,
  );
}

function reverseNamesFindings({ host, addresses }: HostFacts): RoutingDraft[] {
  return addresses.flatMap(({ ip, has_ptr: named, fcrdns, ptr }): RoutingDraft[] => {
    if (named === false) {
      const message = `${ip} of ${host} has no reverse name (PTR): many receivers refuse the mail it sends.`;
      return [finding("no-reverse-name", host, message)];
    }
    const message = `The reverse name of ${ip} of ${host}, ${ptr ?? "none"}, does not resolve to that address.`;
    return fcrdns === false ? [finding("reverse-name-mismatch", host, message)] : [];
  });
}

/** Finds repeated hosts, shared priorities and a single mail host. */
function redundancyFindings(named: readonly HostFacts[]): RoutingDraft[] {
  const priorities = named.map(({ priority }) => priority);
  const repeated = [...new Set(priorities.filter((priority, index) => priorities.indexOf(priority) !== index))];
  const names = named.map(({ host }) => host.toLowerCase());
  const twice = [...new Set(names.filter((host, index) => names.indexOf(host) !== index))];
  const shared = `Several mail hosts share the priority ${repeated.slice(0, 5).join(", ")}: senders distribute mail among them.`;
  const single = "There is only one mail host: if it fails, mail waits at the sending servers.";
  return [
    ...twice.map((host): RoutingDraft => {
      return finding("host-repeated", host, `Several MX records name the host ${host}.`);
    }),
    ...(repeated.length > 0 ? [{ id: "priority-shared", message: shared } as const] : []),
    ...(named.length === 1 && named.every(hasSingleAddress) ? [{ id: "single-host", message: single } as const] : []),
  ];
}

/**
 * Reports whether a host has only one address in each family and is therefore probably one machine. Large services use
 * one name with many addresses.
 */
function hasSingleAddress({ addresses, complete }: HostFacts): boolean {
  const families = [4, 6].map((version) => addresses.filter(({ ip }) => isIP(ip) === version).length);
  return complete && addresses.length > 0 && families.every((count) => count <= 1);
}
