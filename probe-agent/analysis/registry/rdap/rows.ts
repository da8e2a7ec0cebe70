import type { Static } from "typebox";
import type { AutnumRegistration, NetworkRegistration } from "#shared/tools/registrations.ts";
import type { RdapNetwork } from "#probe-agent/analysis/registry/rdap.ts";
import type { RdapAutnum } from "#probe-agent/analysis/registry/rdap/autnum.ts";

/** Converts a network that was read at `url` to its form in results. */
export function networkRow(network: RdapNetwork, url: string): Static<typeof NetworkRegistration> {
  const { organization: _organization, port43: _port43, ...rest } = network;
  return { ...rest, cidrs: [...network.cidrs], status: [...network.status], url };
}

/** Converts an AS number that was read at `url` to its form in results. */
export function autnumRow(autnum: RdapAutnum, url: string): Static<typeof AutnumRegistration> {
  const { port43: _port43, ...rest } = autnum;
  return { ...rest, status: [...autnum.status], url };
}
