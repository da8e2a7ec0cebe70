import { isIP } from "node:net";
import { createListRule } from "#shared/egress/addresses.ts";
import { parseRange } from "#shared/egress/ranges.ts";
import type { ProxyEnvironment } from "#probe-agent/exporter/probe.ts";
import type { ProxyOptions } from "#shared/blackbox/module.ts";

/**
 * Returns the proxy for a URL; null to connect directly. With proxy_from_environment, hosts of this machine are reached
 * directly, as Go's http.ProxyFromEnvironment does.
 */
export function chooseProxy(url: URL, options: ProxyOptions, environment: ProxyEnvironment): URL | null {
  const { proxy_url: given, no_proxy: exceptions, proxy_from_environment: fromEnvironment } = options;
  if (given !== null) return isException(url, exceptions) ? null : new URL(given);
  if (!fromEnvironment) return null;
  const read = (name: string): string => environment[name.toUpperCase()] ?? environment[name] ?? "";
  const proxy = read(url.protocol === "https:" ? "https_proxy" : "http_proxy");
  if (proxy === "" || isThisMachine(url) || isException(url, read("no_proxy"))) return null;
  return URL.parse(proxy.includes("://") ? proxy : `http://${proxy}`);
}

function isThisMachine({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** Maximum number of entries of a list of exceptions that are read. */
const MOST_ENTRIES = 1000;

/**
 * Reports whether a list of hosts (NO_PROXY's form) contains the host of a URL: "*", addresses, ranges (CIDR), names with
 * all below them, ".name" or "*.name" for what is below it alone, each with a port or without.
 */
function isException(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return list.split(",", MOST_ENTRIES).some((raw) => {
    const entry = raw.trim().toLowerCase();
    if (entry === "") return false;
    if (entry === "*") return true;
    if (parseRange(entry) !== null) return isIP(host) !== 0 && createListRule([entry])(host);
    const [, bracketed, bare = "", only] = /^(?:\[([^\]]{1,60})\]|([^:]{1,255}))(?::(\d{1,5}))?$/.exec(entry) ?? [];
    if (only !== undefined && only !== port) return false;
    if (bracketed !== undefined) return bracketed === host;
    const below = bare.replace(/^\*/, "");
    return below.startsWith(".")
      ? host.endsWith(below)
      : host === below || (below !== "" && host.endsWith(`.${below}`));
  });
}
