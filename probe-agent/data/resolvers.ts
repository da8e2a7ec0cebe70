import { readFileSync } from "node:fs";
import { parseResolvers, type ResolverEntry, type ResolverSource } from "#shared/settings/resolvers.ts";
import type { Opened } from "#probe-agent/data/opened.ts";

/** Well-known public resolvers with the anycast addresses that their operators publish. */
const BUILT_IN: readonly ResolverEntry[] = [
  { id: "google", name: "Google Public DNS", location: "anycast", address: "8.8.8.8", transport: "udp" },
  { id: "cloudflare", name: "Cloudflare", location: "anycast", address: "1.1.1.1", transport: "udp" },
  { id: "quad9", name: "Quad9", location: "anycast", address: "9.9.9.9", transport: "udp" },
  { id: "opendns", name: "Cisco OpenDNS", location: "anycast", address: "208.67.222.222", transport: "udp" },
  { id: "adguard", name: "AdGuard DNS (unfiltered)", location: "anycast", address: "94.140.14.140", transport: "udp" },
  { id: "dns-sb", name: "DNS.SB", location: "anycast", address: "185.222.222.222", transport: "udp" },
  { id: "yandex", name: "Yandex DNS", location: "RU", address: "77.88.8.8", transport: "udp" },
  { id: "alidns", name: "AliDNS", location: "CN", address: "223.5.5.5", transport: "udp" },
  { id: "dnspod", name: "DNSPod", location: "CN", address: "119.29.29.29", transport: "udp" },
  { id: "hinet", name: "HiNet", location: "TW", address: "168.95.1.1", transport: "udp" },
  { id: "level3", name: "Lumen", location: "US", address: "4.2.2.1", transport: "udp" },
  { id: "controld", name: "Control D", location: "anycast", address: "76.76.2.0", transport: "udp" },
];

/** Returns the operator's resolvers, or the built-in list. */
export function openResolvers(source: ResolverSource | null): Opened<readonly ResolverEntry[]> {
  if (source === null) return { ok: true, data: BUILT_IN };
  if ("entries" in source) return { ok: true, data: source.entries };
  try {
    const entries = parseResolvers(readFileSync(source.file, "utf8"));
    if (entries !== undefined) return { ok: true, data: entries };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ok: false, line: `VANTAGE_RESOLVERS: ${words}` };
  }
  return { ok: false, line: `VANTAGE_RESOLVERS ${source.file}: not a JSON list of complete entries` };
}
