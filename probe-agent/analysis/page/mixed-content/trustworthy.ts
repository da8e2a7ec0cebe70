/**
 * Reports whether browsers trust the origin of an http URL although it is not encrypted (W3C Secure Contexts 3.1; onion
 * services as in Tor Browser).
 */
export function isTrustworthy(url: URL): boolean {
  const host = url.hostname.replace(/\.$/, "");
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host.endsWith(".onion") ||
    host === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(host)
  );
}
