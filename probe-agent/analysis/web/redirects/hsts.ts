import { isIP } from "node:net";
import type { RedirectStep } from "#probe-agent/analysis/web/redirects/chain.ts";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";

/** Why a browser replaces an http URL with https without a request; null if it does not. */
type HstsReason = "preloaded" | "learned" | null;

/**
 * Returns, for each step, whether a browser skips it. Browsers know hosts from the preload list, or from the
 * Strict-Transport-Security of an earlier step over a connection without errors (RFC 6797 section 8.1).
 */
export function hstsOf(steps: readonly RedirectStep[], isPreloaded: (host: string) => boolean): HstsReason[] {
  const learned = new Map<string, { readonly includeSubDomains: boolean }>();
  return steps.map(({ hop }) => {
    const { protocol, hostname } = new URL(hop.url);
    if (protocol === "https:") {
      learn(hop, hostname, learned);
      return null;
    }
    if (isPreloaded(hostname)) return "preloaded";
    return knows(learned, hostname) ? "learned" : null;
  });
}

function learn(
  { headers, tls }: RedirectStep["hop"],
  host: string,
  learned: Map<string, { readonly includeSubDomains: boolean }>,
): void {
  const [value] = headerValues(headers, "strict-transport-security");
  if (value === undefined || tls?.authorized !== true || isIP(host.replace(/^\[|\]$/g, "")) !== 0) return;
  const { maxAge, includeSubDomains } = parseHsts(value);
  if (maxAge === null) return;
  if (maxAge === 0) learned.delete(host);
  else learned.set(host, { includeSubDomains });
}

function knows(learned: ReadonlyMap<string, { readonly includeSubDomains: boolean }>, host: string): boolean {
  for (let name = host, isOwn = true; name !== ""; name = name.includes(".") ? name.slice(name.indexOf(".") + 1) : "") {
    const policy = learned.get(name);
    if (policy !== undefined && (isOwn || policy.includeSubDomains)) return true;
    isOwn = false;
  }
  return false;
}
