import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { addressGroup } from "#control-plane/http/limits/address.ts";

/**
 * Returns the key by which calls at a host are counted: the registrable domain of a name (Public Suffix List), the name
 * itself if it is a public suffix, an IPv4 address, or the /64 of an IPv6 address. `host` is in lower case with
 * A-labels, as checks/target.ts returns it.
 */
export function targetKey(host: string): string {
  if (host.includes(":")) return addressGroup(host);
  return registrableDomain(host) ?? host;
}
