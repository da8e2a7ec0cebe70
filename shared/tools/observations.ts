import type { Observation } from "#shared/tools/define.ts";

/** Returns that a URL's host was reached at an address; nothing if the URL contains an address instead of a name. */
export function urlSeenAt(url: string, ip: string): readonly Observation[] {
  const hostname = URL.parse(url)?.hostname.replace(/\.$/, "") ?? "";
  return hostname === "" || hostname.startsWith("[") ? [] : [{ host: hostname, ip }];
}

/** Returns that a host resolves to these addresses. */
export function hostSeenAt(host: string, ips: readonly string[]): readonly Observation[] {
  return ips.map((ip) => ({ host, ip }));
}
