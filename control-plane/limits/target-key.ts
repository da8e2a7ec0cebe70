import { registrableDomain } from "#shared/registrable-domain.ts";
import { addressGroup } from "#control-plane/limits/address.ts";

/**
 * What calls at a host are counted by: the registrable domain of a name (Public Suffix List), the
 * name itself where it is a public suffix, an IPv4 address, the /64 of an IPv6 one. `host` is as checks/target.ts has it.
 */
export function targetKey(host: string): string {
  if (host.includes(":")) return addressGroup(host);
  return registrableDomain(host) ?? host;
}
