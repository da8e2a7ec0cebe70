import { isIPv6 } from "node:net";

/** A host (without brackets, not validated) and its port; null without a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number | null;
}

/** Splits host, host:port, [v6] and [v6]:port; a bare IPv6 address is a host. Returns undefined for anything else. */
export function splitHostPort(value: string): HostPort | undefined {
  if (isIPv6(value)) return value.includes("%") ? undefined : { host: value, port: null };
  const match = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([^[\]:]{1,253}))(?::(\d{1,5}))?$/.exec(value);
  if (!match) return undefined;
  const [, bracketed, plain = "", digits] = match;
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && port > 65_535) return undefined;
  if (bracketed === undefined) return { host: plain, port };
  return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
}
