import { completeUrl } from "#shared/internet/target-url.ts";

/** A server that a monitor names by host and port. */
interface ServerTarget {
  /** In lower case; null: none is given. */
  readonly scheme: string | null;
  /** Lower-case A-labels without final dot, or an address without brackets. */
  readonly host: string;
  /** null: none is given. */
  readonly port: number | null;
}

const SCHEME = /^([a-z]+):\/\//i;

/**
 * Reads host, host:port or one of them after a scheme, such as tcp://mail.example.com:25; IPv6 addresses are in brackets.
 * Returns null for another scheme, and for text with a user name, a path or a query.
 */
export function readServerTarget(text: string, schemes: readonly string[]): ServerTarget | null {
  const [start = "", given] = SCHEME.exec(text.trim()) ?? [];
  const scheme = given?.toLowerCase() ?? null;
  if (scheme !== null && !schemes.includes(scheme)) return null;
  const place = text.trim().slice(start.length).replace(/\/$/, "");
  if (/[/\\?#@\s]/.test(place)) return null;
  // A parser leaves the default port of its scheme out, so another scheme is asked for it.
  const [one, other] = [URL.parse(`https://${place}`), URL.parse(`http://${place}`)];
  if (one === null || other === null || one.hostname === "") return null;
  const digits = one.port === "" ? other.port : one.port;
  const port = digits === "" ? null : Number(digits);
  if (port === 0) return null;
  const { hostname } = one;
  return { scheme, host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, ""), port };
}

/** Returns host:port as text, an IPv6 address in brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Parses the target of a monitor: a URL of any scheme, or a host with or without a port, which is read as https. */
export function parseTarget(url: string): URL | null {
  return URL.parse(completeUrl(url) ?? url.trim());
}
