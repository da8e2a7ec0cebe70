import { domainToASCII } from "node:url";
import { registeredDomain } from "#shared/internet/registrable-domain.ts";
import { readTlsTarget } from "#control-plane/outages/kinds/tls-target.ts";

/** Kinds of what expires. */
export type ExpiryKind = "certificate" | "domain";

/** What a monitor depends on. */
export interface ExpiringTarget {
  readonly kind: ExpiryKind;
  /** certificate: host:port, an IPv6 address in brackets; domain: the registered domain. Lower-case A-labels. */
  readonly target: string;
  /** Host that the agents' rules decide on. */
  readonly host: string;
}

/** Returns the certificate of a host, host:port or https URL; none if there is none. `port` is that of the monitor. */
export function certificateOf(url: string, port: number | null): readonly ExpiringTarget[] {
  const server = readTlsTarget(url, port);
  if (!server.ok) return [];
  const { host } = server;
  const text = host.includes(":") ? `[${host}]` : host;
  return [{ kind: "certificate", target: `${text}:${server.port}`, host }];
}

/** Returns the registration of the host of a URL; none if it is no name below a registry. */
export function registrationOfUrl(url: string): readonly ExpiringTarget[] {
  const server = readTlsTarget(url.replace(/^ *http:/i, "https:"), null);
  return registrationOf(server.ok ? server.host : "");
}

/** Returns the registration of a domain name; none if it is no name below a registry. */
export function registrationOf(name: string): readonly ExpiringTarget[] {
  const domain = registeredDomain(domainToASCII(name.replace(/\.$/, "")));
  return domain === null ? [] : [{ kind: "domain", target: domain, host: domain }];
}
