import { isIPv6 } from "node:net";

const FULL = /^ *https?:\/\//i;
// A host as the URL parser takes it, or an address in brackets; a port of digits; then anything. No escapes and no user
// info: people type neither, and both hide where a URL leads.
const BARE = /^ *([^\p{Cc}\s/?#@:[\]\\%]+|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?(?:([/?#].*)| *)$/su;
const BARE_IPV6 = /^ *([0-9A-Fa-f:.]{2,45})(?:([/?#].*)| *)$/s;

/**
 * The URL that a person means: http:// and https:// URLs as they are, `example.org`, `example.org:8443`,
 * `EXAMPLE.org/path`, `192.0.2.1` or `2001:db8::1` with https:// before them. Null for other schemes, user info and
 * whatever names no host. Every door that asks for a URL reads it with this; what the URL may reach is decided on the
 * result (shared/egress.ts).
 */
export function completeUrl(text: string): string | null {
  if (FULL.test(text)) return text;
  const [, address = "", behind = ""] = BARE_IPV6.exec(text) ?? [];
  if (isIPv6(address)) return `https://[${address}]${behind}`;
  const [, host, port = "", rest = ""] = BARE.exec(text) ?? [];
  return host === undefined ? null : `https://${host}${port}${rest}`;
}

/**
 * The URLs at which a web site is to be looked for, the best first: the URL given, or https and then http of a host. What
 * names no host comes back as it is, for the egress rules to refuse.
 */
export function siteUrls(text: string): readonly [string, ...string[]] {
  const url = completeUrl(text);
  if (url === null || FULL.test(text)) return [url ?? text];
  return [url, url.replace("https:", "http:")];
}
