import { isIP } from "node:net";
import { splitHostPort, type HostPort } from "#shared/internet/host-port.ts";
import type { Kind } from "#shared/settings/kind.ts";

/** A host (no brackets) and a TCP or UDP port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*$/;

/** Splits host and port of a setting; the host must be an address or a name. */
export function parseHostPort(value: string): HostPort | undefined {
  const split = splitHostPort(value);
  if (split === undefined || isIP(split.host) !== 0) return split;
  // 1.2.3 and 1.2.3.999 are not addresses, and no host has such a name.
  return /^[\d.]+$/.test(split.host) || !HOST_NAME.test(split.host) ? undefined : split;
}

/** Formats host:port, with brackets around IPv6. */
export function formatAddress(address: Address): string {
  return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
}

/** Reports whether a listener on this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Reports whether a URL leads to this machine. */
export function isLocalUrl(url: string): boolean {
  return isLoopback(URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "");
}

/** Reports whether others on the way to a URL can read and change what is sent: it is http, and of another machine. */
export function isInClear(url: string): boolean {
  return URL.parse(url)?.protocol === "http:" && !isLocalUrl(url);
}

/** A listening address. Port 0 (any free port) is rejected, because clients must know the port in advance. */
export const listenAddress: Kind<Address> = {
  allowed: "host:port or [IPv6]:port with a port from 1 to 65535",
  parse(value) {
    const given = parseHostPort(value);
    return given?.port ? { host: given.host, port: given.port } : undefined;
  },
};

/** A listening address, with port 0 for any free port, or `off`. */
export const optionalListenAddress: Kind<Address | "off"> = {
  allowed: "host:port, [IPv6]:port (port 0: any free port) or off",
  parse(value) {
    if (value === "off") return "off";
    const given = parseHostPort(value);
    return given === undefined || given.port === null ? undefined : { host: given.host, port: given.port };
  },
};

/** An address to dial: host:port, or dns:///name:port, which resolves to several. Returned in grpc-js's form. */
export const dialTarget: Kind<string> = {
  allowed: "host:port or dns:///name:port",
  parse(value) {
    const prefix = value.startsWith("dns:///") ? "dns:///" : "";
    const address = listenAddress.parse(value.slice(prefix.length));
    return address === undefined ? undefined : prefix + formatAddress(address);
  },
};

/** A DNS server: address or address:port (default 53), never a name. */
export const nameServer: Kind<Address> = {
  allowed: "IP address[:port]",
  parse(value) {
    const given = parseHostPort(value);
    if (given === undefined || isIP(given.host) === 0 || given.port === 0) return undefined;
    return { host: given.host, port: given.port ?? 53 };
  },
};

/** Returns a listener's address from its own machine: "every address" (0.0.0.0, [::]) becomes loopback. */
export function ownAddress({ host, port }: Address): Address {
  return { host: host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port };
}

/** Hosts of listeners that browsers of this machine reach as localhost, a name to which they give more than to addresses. */
const LOCAL: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"]);

/** Returns the URL of a listener for people: localhost where that leads to it. */
export function linkedUrl(address: Address, tls: boolean): string {
  return listenerUrl(LOCAL.has(address.host) ? { ...address, host: "localhost" } : address, tls);
}

/** Returns the URL of a listener from its own machine. */
export function listenerUrl(address: Address, tls: boolean): string {
  return `${tls ? "https" : "http"}://${formatAddress(ownAddress(address))}`;
}
