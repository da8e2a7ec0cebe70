import type { Outcome } from "#shared/contracts/outcome.ts";
import { siteUrls } from "#shared/internet/target-url.ts";

/**
 * Runs an attempt on a site given as host, host:port or URL: at the URL, or over https and then over http if nothing
 * speaks TLS there. Returns the first failure if both fail.
 */
export async function tryOnSite<T>(site: string, attempt: (url: string) => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const [first, second] = siteUrls(site);
  const outcome = await attempt(first);
  if (second === undefined || outcome.status !== "failed" || outcome.source !== "target") return outcome;
  if (outcome.stage !== "connect" && outcome.stage !== "tls") return outcome;
  const plain = await attempt(second);
  return plain.status === "ok" ? plain : outcome;
}
