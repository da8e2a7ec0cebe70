import { domainToASCII } from "node:url";
import { registeredDomain } from "#shared/registrable-domain.ts";
import type { CheckType } from "#control-plane/kinds/monitor.ts";
import { readTlsTarget } from "#control-plane/kinds/tls-target.ts";

/** Kinds of what expires. */
export type ExpiryKind = "certificate" | "domain";

/** What a monitor depends on. */
export interface WatchedTarget {
  readonly kind: ExpiryKind;
  /** certificate: host:port, an IPv6 address in brackets; domain: the registered domain. Lower-case A-labels. */
  readonly target: string;
  /** Host that the agents' rules decide on. */
  readonly host: string;
}

/** The facts about a monitor that decide on what it depends. */
interface WatchingMonitor {
  readonly url: string;
  readonly checkType: CheckType;
  readonly port: number | null;
  readonly watchDomain: boolean;
}

/** Returns the certificate and the registration that a monitor depends on: at most one of each. */
export function targetsOf({ url, checkType, port, watchDomain }: WatchingMonitor): readonly WatchedTarget[] {
  switch (checkType) {
    case "http":
    case "keyword":
      return [...certificateOf(url, null), ...(watchDomain ? domainOf(hostOf(url)) : [])];
    case "ssl":
      return certificateOf(url, port);
    case "domain":
      return domainOf(url.trim());
    default:
      return [];
  }
}

/** Splits host:port of a target. */
export function splitTarget(target: string): { readonly host: string; readonly port: number } {
  const at = target.lastIndexOf(":");
  const host = target.slice(0, at);
  return { host: host.startsWith("[") ? host.slice(1, -1) : host, port: Number(target.slice(at + 1)) };
}

/** Returns the last label of a domain. */
export function topLevelOf(domain: string): string {
  return domain.slice(domain.lastIndexOf(".") + 1);
}

function certificateOf(url: string, port: number | null): readonly WatchedTarget[] {
  const server = readTlsTarget(url, port);
  if (!server.ok) return [];
  const { host } = server;
  const text = host.includes(":") ? `[${host}]` : host;
  return [{ kind: "certificate", target: `${text}:${server.port}`, host }];
}

function hostOf(url: string): string {
  const server = readTlsTarget(url.replace(/^ *http:/i, "https:"), null);
  return server.ok ? server.host : "";
}

function domainOf(name: string): readonly WatchedTarget[] {
  const domain = registeredDomain(domainToASCII(name.replace(/\.$/, "")));
  return domain === null ? [] : [{ kind: "domain", target: domain, host: domain }];
}
