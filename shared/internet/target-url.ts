import { isIPv6 } from "node:net";

const FULL = /^ *https?:\/\//i;
// A host as the URL parser accepts it, or an address in brackets, then an optional port of digits, then anything.
// Escapes and user information are rejected, because users type neither and both hide the target of a URL.
const BARE = /^ *([^\p{Cc}\s/?#@:[\]\\%]+|\[[0-9A-Fa-f:.]{2,45}\])(:\d{1,5})?(?:([/?#].*)| *)$/su;
const BARE_IPV6 = /^ *([0-9A-Fa-f:.]{2,45})(?:([/?#].*)| *)$/s;

/**
 * Completes a URL from user input. http:// and https:// URLs are unchanged; `example.org`, `example.org:8443`,
 * `EXAMPLE.org/path`, `192.0.2.1` and `2001:db8::1` get the prefix https://. Returns null for other schemes, user
 * information and text without a host. Every surface reads URLs with this function; the egress rules then check the
 * result (shared/internet/egress.ts).
 */
export function completeUrl(text: string): string | null {
  if (FULL.test(text)) return text;
  const [, address = "", behind = ""] = BARE_IPV6.exec(text) ?? [];
  if (isIPv6(address)) return `https://[${address}]${behind}`;
  const [, host, port = "", rest = ""] = BARE.exec(text) ?? [];
  return host === undefined ? null : `https://${host}${port}${rest}`;
}

/**
 * Returns the URLs to try for a web site, in order: the given URL, or https and then http for a host. Text without a
 * host is returned unchanged; the egress rules refuse it.
 */
export function siteUrls(text: string): readonly [string, ...string[]] {
  const url = completeUrl(text);
  if (url === null || FULL.test(text)) return [url ?? text];
  return [url, url.replace("https:", "http:")];
}
