import type { Observation } from "#shared/tools/define.ts";

/** That a URL's host was reached at an address; nothing where it names an address itself. */
export function urlSeenAt(url: string, ip: string): readonly Observation[] {
  const hostname = URL.parse(url)?.hostname.replace(/\.$/, "") ?? "";
  return hostname === "" || hostname.startsWith("[") ? [] : [{ host: hostname, ip }];
}

/** That a host resolves to these addresses. */
export function hostSeenAt(host: string, ips: readonly string[]): readonly Observation[] {
  return ips.map((ip) => ({ host, ip }));
}
