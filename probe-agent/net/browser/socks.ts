import { isIPv6 } from "node:net";

/** The destination that a client of the proxy requests. */
export interface Destination {
  /** A name or an address literal, as the client sent it. */
  readonly host: string;
  readonly port: number;
}

/** Result of parsing the octets received so far; `used` of them are consumed. */
export type Parsed<T> =
  | { readonly kind: "more" }
  | { readonly kind: "bad" }
  | { readonly kind: "done"; readonly value: T; readonly used: number };

/** Reply codes of RFC 1928 section 6. */
export const REPLY = {
  succeeded: 0,
  notAllowed: 2,
  hostUnreachable: 4,
  connectionRefused: 5,
  commandNotSupported: 7,
} as const;

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const CONNECT = 1;

/** Parses a greeting (RFC 1928 section 3); the value reports whether it offers "no authentication". */
export function readGreeting(octets: Buffer): Parsed<boolean> {
  if (octets.length >= 1 && octets[0] !== VERSION) return { kind: "bad" };
  const methods = octets[1];
  if (methods === undefined || octets.length < 2 + methods) return { kind: "more" };
  const value = octets.subarray(2, 2 + methods).includes(NO_AUTHENTICATION);
  return { kind: "done", value, used: 2 + methods };
}

/** Parses a request (section 4); the value is null for a command other than CONNECT. */
export function readRequest(octets: Buffer): Parsed<Destination | null> {
  if (octets.length >= 1 && octets[0] !== VERSION) return { kind: "bad" };
  const [, command, , type, length] = octets;
  if (length === undefined) return { kind: "more" };
  const size = { 1: 4, 3: 1 + length, 4: 16 }[type ?? 0];
  if (size === undefined) return { kind: "bad" };
  const used = 4 + size + 2;
  if (octets.length < used) return { kind: "more" };
  const address = octets.subarray(4, 4 + size);
  const host = type === 3 ? address.subarray(1).toString("latin1") : addressText(address);
  const value = command === CONNECT ? { host, port: octets.readUInt16BE(4 + size) } : null;
  return { kind: "done", value, used };
}

/** Encodes the answer to a greeting: no authentication, or no acceptable method. */
export function greetingReply(agreed: boolean): Buffer {
  return Buffer.from([VERSION, agreed ? NO_AUTHENTICATION : 0xff]);
}

/** Encodes the answer to a request (section 6), without the address of the proxy. */
export function requestReply(code: (typeof REPLY)[keyof typeof REPLY]): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** Returns a host as it appears in a URL. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function addressText(octets: Buffer): string {
  if (octets.length === 4) return octets.join(".");
  return Array.from({ length: 8 }, (_, group) => octets.readUInt16BE(2 * group).toString(16)).join(":");
}
