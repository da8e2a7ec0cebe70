import type { Outcome } from "#shared/contracts/outcome.ts";
import type { RdapFinding } from "#probe-agent/analysis/registry/rdap.ts";
import {
  autnumServiceFor,
  domainServiceFor,
  readAutnumBootstrap,
  readBootstrap,
  readDomainBootstrap,
  serviceFor,
} from "#probe-agent/analysis/registry/rdap/bootstrap.ts";
import {
  registrationAnalysis,
  type RdapFindings,
  type RdapSubject,
} from "#probe-agent/analysis/registry/rdap/registration.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchJson, fetchText } from "#probe-agent/sources/json.ts";
import { serviceSource, type ServiceSource } from "#probe-agent/sources/service-source.ts";

/**
 * A registration with the URL it was read from, or one sentence for the result's limitations that says why there is
 * none.
 */
type RdapAnswer =
  | { readonly ok: true; readonly finding: RdapFinding; readonly url: string }
  | { readonly ok: false; readonly limitation: string };

/** A registry's answer about a subject of one kind. */
export type RdapReply<Kind extends keyof RdapFindings = keyof RdapFindings> =
  | {
      readonly status: "found";
      /** Null if the answer is not a registration of the subject. */
      readonly finding: RdapFindings[Kind];
      /** The document. Null if it is nested too deeply to write. */
      readonly raw: string | null;
      readonly url: string;
    }
  /** The registry has no such object (RFC 7480 section 5.3). */
  | { readonly status: "absent"; readonly url: string }
  /** The list of registries contains no registry for the subject. */
  | { readonly status: "no_registry" }
  /** `reason` is short. `limited` means that the registry refused the query because of its rate limit. */
  | {
      readonly status: "failed";
      readonly about: "bootstrap" | "registry";
      readonly limited?: boolean;
      readonly source: ServiceSource;
      readonly reason: string;
    };

/** RFC 9224 section 8: the bootstrap registries change rarely and must not be fetched for each query. */
const BOOTSTRAP_AGE_MS = 24 * 3_600_000;
const MAX_BOOTSTRAPS = 8;
const RDAP_TYPES = "application/rdap+json, application/json";

/** A list of registries, or who failed to provide it. */
type Services<T> = { readonly ok: true; readonly services: T } | { readonly ok: false; readonly source: ServiceSource };
type ReadServices<T> = (net: Net, url: string) => Promise<Services<T>>;

const addressServices = cached(readBootstrap);
const domainServices = cached(readDomainBootstrap);
const autnumServices = cached(readAutnumBootstrap);

/** Asks the registry that is responsible for an address (RFC 7484 and 9224, RFC 9082 section 3.1.1). */
export async function askRdap(net: Net, ip: string): Promise<RdapAnswer> {
  const reply = await askRegistry(net, { kind: "ip", ip });
  if (reply.status === "no_registry") return noRegistration("RDAP: no registry is responsible for this address.");
  if (reply.status === "absent") return noRegistration("RDAP: the registry returned no registration (status 404).");
  if (reply.status === "failed") {
    return reply.about === "bootstrap"
      ? noRegistration("RDAP: the list of registries could not be read.")
      : noRegistration(`RDAP: the registry returned no registration (${reply.reason}).`);
  }
  const { finding, url } = reply;
  if (finding === null) return noRegistration("RDAP: the registry's answer is not a registration of this address.");
  return { ok: true, finding, url };
}

/** Finds the responsible registry and asks it. */
export async function askRegistry<Kind extends keyof RdapFindings>(
  net: Net,
  subject: Extract<RdapSubject, { kind: Kind }>,
  timeoutMs?: number,
): Promise<RdapReply<Kind>> {
  const base = net.services.rdapBootstrapUrl.replace(/\/$/, "");
  const found = await findService(net, base, subject);
  if (!found.ok) {
    const { source } = found;
    return { status: "failed", about: "bootstrap", source, reason: "the list of registries cannot be read" };
  }
  if (found.service === null) return { status: "no_registry" };
  return await fetchRegistration(net, subject, `${found.service}${found.path}`, timeoutMs);
}

/** Fetches and parses one RDAP resource, from a registry or from a server that it refers to. */
export async function fetchRegistration<Kind extends keyof RdapFindings>(
  net: Net,
  subject: Extract<RdapSubject, { kind: Kind }>,
  url: string,
  timeoutMs?: number,
): Promise<RdapReply<Kind>> {
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const answer = await fetchText(net, { url, trusted: false, accept: RDAP_TYPES, ...limit });
  if (answer.ok) {
    const read = await runAnalysis(net, registrationAnalysis, { text: answer.text, subject });
    if (read.status !== "ok") {
      const source = read.status === "failed" ? serviceSource(read) : "service";
      return { status: "failed", about: "registry", source, reason: reasonOf(read) };
    }
    if (!read.data.isJson) return { status: "failed", about: "registry", source: "service", reason: "not JSON" };
    // The parser of a subject's kind returns findings of that kind.
    const finding = read.data.finding as RdapFindings[Kind];
    return { status: "found", finding, raw: read.data.raw, url: answer.finalUrl };
  }
  if (answer.status === 404) return { status: "absent", url };
  // RFC 7480 section 5.5: status 429 is a rate limit.
  const limited = answer.status === 429;
  const reason = limited ? "its rate limit is reached, status 429" : answer.reason;
  return { status: "failed", about: "registry", limited, source: answer.source, reason };
}

function reasonOf(outcome: Exclude<Outcome<unknown>, { status: "ok" }>): string {
  return outcome.status === "failed" ? outcome.message : "not allowed";
}

/** Finds the registry responsible for a subject in the bootstrap list. `service` is null if the list contains none. */
async function findService(
  net: Net,
  base: string,
  subject: RdapSubject,
): Promise<
  | { readonly ok: true; readonly service: string | null; readonly path: string }
  | Extract<Services<unknown>, { readonly ok: false }>
> {
  switch (subject.kind) {
    case "domain": {
      const list = await domainServices(net, `${base}/dns.json`);
      if (!list.ok) return list;
      return { ok: true, service: domainServiceFor(list.services, subject.name), path: `domain/${subject.name}` };
    }
    case "ip": {
      const list = await addressServices(net, `${base}/${subject.ip.includes(":") ? "ipv6" : "ipv4"}.json`);
      if (!list.ok) return list;
      return { ok: true, service: serviceFor(list.services, subject.ip), path: `ip/${subject.ip}` };
    }
    default: {
      const list = await autnumServices(net, `${base}/asn.json`);
      if (!list.ok) return list;
      return { ok: true, service: autnumServiceFor(list.services, subject.asn), path: `autnum/${subject.asn}` };
    }
  }
}

/** Caches a bootstrap list for a day. An older list is used while a new one is not available. */
function cached<T extends { readonly length: number } | { readonly size: number }>(
  read: (value: unknown) => T | null,
): ReadServices<T> {
  const lists = new Map<string, { readonly services: T; readonly readAt: number }>();
  return async (net, url) => {
    const known = lists.get(url);
    const now = net.now().getTime();
    if (known !== undefined && now - known.readAt < BOOTSTRAP_AGE_MS) return { ok: true, services: known.services };
    const answer = await fetchJson(net, { url, trusted: true, accept: RDAP_TYPES });
    const services = answer.ok ? read(answer.value) : null;
    if (services === null || sizeOf(services) === 0) {
      if (known !== undefined) return { ok: true, services: known.services };
      return { ok: false, source: answer.ok ? "service" : answer.source };
    }
    lists.delete(url);
    lists.set(url, { services, readAt: now });
    const oldest = lists.size > MAX_BOOTSTRAPS ? lists.keys().next().value : undefined;
    if (oldest !== undefined) lists.delete(oldest);
    return { ok: true, services };
  };
}

function sizeOf(services: { readonly length: number } | { readonly size: number }): number {
  return "length" in services ? services.length : services.size;
}

function noRegistration(limitation: string): RdapAnswer {
  return { ok: false, limitation };
}
