import { failed, type Failed } from "#shared/contracts/outcome.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/** Returns the failure of a chain of redirects that has no end within the limit; null if it has one. */
export function endlessRedirects({ hops, finalUrl, stopped }: PageSnapshot): Failed | null {
  const where = `after ${hops.length - 1} redirects, at ${finalUrl}`;
  if (stopped === "loop") return failed("response", "target", "redirect_loop", `${where}: the redirects form a loop`);
  if (stopped !== "too_many_redirects") return null;
  return failed(
    "response",
    "target",
    "too_many_redirects",
    `${where}: there are more redirects than this check follows`,
  );
}
