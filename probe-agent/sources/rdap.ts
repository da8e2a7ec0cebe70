import { readIpNetwork, type RdapFinding } from "#probe-agent/analysis/rdap.ts";
import { readBootstrap, serviceFor, type RdapService } from "#probe-agent/analysis/rdap/bootstrap.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { fetchJson } from "#probe-agent/sources/json.ts";

/** A registration with the URL it was read at, or why there is none: one sentence for the result's limitations. */
export type RdapAnswer =
  | { readonly ok: true; readonly finding: RdapFinding; readonly url: string }
  | { readonly ok: false; readonly limitation: string };

/** RFC 9224 section 8: the registries change rarely and are not to be fetched for each query. */
const BOOTSTRAP_AGE_MS = 24 * 3_600_000;
const MAX_BOOTSTRAPS = 8;
const RDAP_TYPES = "application/rdap+json, application/json";

interface Bootstrap {
  readonly services: readonly RdapService[];
  readonly readAt: number;
}

const bootstraps = new Map<string, Bootstrap>();

/** Asks the registry that is responsible for an address (RFC 7484 and 9224, RFC 9082 section 3.1.1). */
export async function askRdap(net: Net, ip: string): Promise<RdapAnswer> {
  const base = net.services.rdapBootstrapUrl.replace(/\/$/, "");
  const services = await bootstrap(net, `${base}/${ip.includes(":") ? "ipv6" : "ipv4"}.json`);
  if (services === null) return no("RDAP: the list of registries could not be read.");
  const service = serviceFor(services, ip);
  if (service === null) return no("RDAP: no registry is responsible for this address.");
  const url = `${service}ip/${ip}`;
  const answer = await fetchJson(net, { url, trusted: false, accept: RDAP_TYPES });
  if (!answer.ok) return no(`RDAP: the registry gave no registration (${answer.reason}).`);
  const finding = readIpNetwork(answer.value, ip);
  if (finding === null) return no("RDAP: the registry's answer is no registration of this address.");
  return { ok: true, finding, url: answer.finalUrl };
}

/** A list older than a day still serves while a new one cannot be had. */
async function bootstrap(net: Net, url: string): Promise<readonly RdapService[] | null> {
  const known = bootstraps.get(url);
  const now = net.now().getTime();
  if (known !== undefined && now - known.readAt < BOOTSTRAP_AGE_MS) return known.services;
  const answer = await fetchJson(net, { url, trusted: true, accept: RDAP_TYPES });
  const services = answer.ok ? readBootstrap(answer.value) : null;
  if (services === null || services.length === 0) return known?.services ?? null;
  bootstraps.delete(url);
  bootstraps.set(url, { services, readAt: now });
  const oldest = bootstraps.size > MAX_BOOTSTRAPS ? bootstraps.keys().next().value : undefined;
  if (oldest !== undefined) bootstraps.delete(oldest);
  return services;
}

function no(limitation: string): RdapAnswer {
  return { ok: false, limitation };
}
