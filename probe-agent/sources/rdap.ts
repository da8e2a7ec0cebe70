import { readIpNetwork, type RdapFinding } from "#probe-agent/analysis/rdap.ts";
import {
  autnumServiceFor,
  domainServiceFor,
  readAutnumBootstrap,
  readBootstrap,
  readDomainBootstrap,
  serviceFor,
} from "#probe-agent/analysis/rdap/bootstrap.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { fetchJson } from "#probe-agent/sources/json.ts";

/** A registration with the URL it was read at, or why there is none: one sentence for the result's limitations. */
export type RdapAnswer =
  | { readonly ok: true; readonly finding: RdapFinding; readonly url: string }
  | { readonly ok: false; readonly limitation: string };

/** What a registry is asked about (RFC 9082 section 3.1); names in lower-case A-labels. */
export type RdapSubject =
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "ip"; readonly ip: string }
  | { readonly kind: "autnum"; readonly asn: number };

/** A registry's answer, not yet read. */
export type RdapReply =
  | { readonly status: "found"; readonly value: unknown; readonly url: string }
  /** RFC 7480 section 5.3: the registry has no such object. */
  | { readonly status: "absent"; readonly url: string }
  /** The list of registries names nobody. */
  | { readonly status: "nobody" }
  /** `reason` in a few words; `limited`: the registry turned the question away because it was asked too often. */
  | {
      readonly status: "failed";
      readonly about: "bootstrap" | "registry";
      readonly limited?: boolean;
      readonly reason: string;
    };

/** RFC 9224 section 8: the registries change rarely and are not to be fetched for each query. */
const BOOTSTRAP_AGE_MS = 24 * 3_600_000;
const MAX_BOOTSTRAPS = 8;
const RDAP_TYPES = "application/rdap+json, application/json";

type ReadServices<T> = (net: Net, url: string) => Promise<T | null>;

const addressServices = cached(readBootstrap);
const domainServices = cached(readDomainBootstrap);
const autnumServices = cached(readAutnumBootstrap);

/** Asks the registry that is responsible for an address (RFC 7484 and 9224, RFC 9082 section 3.1.1). */
export async function askRdap(net: Net, ip: string): Promise<RdapAnswer> {
  const reply = await askRegistry(net, { kind: "ip", ip });
  if (reply.status === "nobody") return no("RDAP: no registry is responsible for this address.");
  if (reply.status === "absent") return no("RDAP: the registry gave no registration (status 404).");
  if (reply.status === "failed") {
    return reply.about === "bootstrap"
      ? no("RDAP: the list of registries could not be read.")
      : no(`RDAP: the registry gave no registration (${reply.reason}).`);
  }
  const finding = readIpNetwork(reply.value, ip);
  if (finding === null) return no("RDAP: the registry's answer is no registration of this address.");
  return { ok: true, finding, url: reply.url };
}

/** Finds the registry that is responsible and asks it. */
export async function askRegistry(net: Net, subject: RdapSubject, timeoutMs?: number): Promise<RdapReply> {
  const base = net.services.rdapBootstrapUrl.replace(/\/$/, "");
  const found = await findService(net, base, subject);
  if (found === null) return { status: "failed", about: "bootstrap", reason: "the list of registries cannot be read" };
  if (found.service === null) return { status: "nobody" };
  return await fetchRegistration(net, `${found.service}${found.path}`, timeoutMs);
}

/** Fetches one RDAP resource, of a registry or of whom it refers to. */
export async function fetchRegistration(net: Net, url: string, timeoutMs?: number): Promise<RdapReply> {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const answer = await fetchJson(net, { url, trusted: false, accept: RDAP_TYPES, ...limit });
  if (answer.ok) return { status: "found", value: answer.value, url: answer.finalUrl };
  if (answer.status === 404) return { status: "absent", url };
  // RFC 7480 section 5.5.
  const limited = answer.status === 429;
  const reason = limited ? "it limits how often it may be asked, status 429" : answer.reason;
  return { status: "failed", about: "registry", limited, reason };
}

/** Null where the list cannot be had; `service` null where it names nobody. */
async function findService(
  net: Net,
  base: string,
  subject: RdapSubject,
): Promise<{ readonly service: string | null; readonly path: string } | null> {
  switch (subject.kind) {
    case "domain": {
      const services = await domainServices(net, `${base}/dns.json`);
      return services && { service: domainServiceFor(services, subject.name), path: `domain/${subject.name}` };
    }
    case "ip": {
      const services = await addressServices(net, `${base}/${subject.ip.includes(":") ? "ipv6" : "ipv4"}.json`);
      return services && { service: serviceFor(services, subject.ip), path: `ip/${subject.ip}` };
    }
    default: {
      const services = await autnumServices(net, `${base}/asn.json`);
      return services && { service: autnumServiceFor(services, subject.asn), path: `autnum/${subject.asn}` };
    }
  }
}

/** A list older than a day still serves while a new one cannot be had. */
function cached<T extends { readonly length: number } | { readonly size: number }>(
  read: (value: unknown) => T | null,
): ReadServices<T> {
  const lists = new Map<string, { readonly services: T; readonly readAt: number }>();
  return async (net, url) => {
    const known = lists.get(url);
    const now = net.now().getTime();
    if (known !== undefined && now - known.readAt < BOOTSTRAP_AGE_MS) return known.services;
    const answer = await fetchJson(net, { url, trusted: true, accept: RDAP_TYPES });
    const services = answer.ok ? read(answer.value) : null;
    if (services === null || sizeOf(services) === 0) return known?.services ?? null;
    lists.delete(url);
    lists.set(url, { services, readAt: now });
    const oldest = lists.size > MAX_BOOTSTRAPS ? lists.keys().next().value : undefined;
    if (oldest !== undefined) lists.delete(oldest);
    return services;
  };
}

function sizeOf(services: { readonly length: number } | { readonly size: number }): number {
  return "length" in services ? services.length : services.size;
}

function no(limitation: string): RdapAnswer {
  return { ok: false, limitation };
}
