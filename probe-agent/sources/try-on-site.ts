import type { Outcome } from "#shared/outcome.ts";
import { siteUrls } from "#shared/target-url.ts";

/**
 * What a site named by a host, host:port or URL gives: tried at the URL, or over https and, where nothing speaks TLS
 * there, over http. The first failure is told where both fail.
 */
export async function tryOnSite<T>(site: string, attempt: (url: string) => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const [first, second] = siteUrls(site);
  const outcome = await attempt(first);
  if (second === undefined || outcome.status !== "failed" || outcome.source !== "target") return outcome;
  if (outcome.stage !== "connect" && outcome.stage !== "tls") return outcome;
  const plain = await attempt(second);
  return plain.status === "ok" ? plain : outcome;
}
