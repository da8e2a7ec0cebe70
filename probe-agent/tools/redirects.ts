import { ok } from "#shared/outcome.ts";
import { redirects as contract } from "#shared/tools/redirects.ts";
import { FOLLOWED_DELAY_S } from "#probe-agent/analysis/web/redirects/chain.ts";
import { redirectReport } from "#probe-agent/analysis/web/redirects.ts";
import { failureRow, followChain } from "#probe-agent/sources/chain.ts";
import { UNREAD } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Redirect chain: followed once, then read. */
export const redirects = implement(contract, async (net, { url, max, ua }) => {
  const observedAt = net.now().toISOString();
  const request = { url, maxRedirects: max, ...(ua === undefined ? {} : { userAgent: ua }) };
  const followed = await followChain(net, request);
  if (followed.status !== "ok") return followed;
  const chain = followed.data;
  const { report, cut } = redirectReport(chain, (host) => net.data.hstsPreload(host) !== null);
  const { body } = chain.last.snapshot;
  const refreshes = chain.steps.some(({ refresh }) => refresh !== null);
  return ok({
    url,
    ...report,
    failure: failureRow(chain.deadEnd),
    source: ["page"],
    observed_at: observedAt,
    limitations: [
      ...(refreshes
        ? [`Refreshes of up to ${FOLLOWED_DELAY_S} s are followed at once, their delay is not waited for.`]
        : []),
      ...(net.data.hasHstsPreload
        ? []
        : ["No HSTS preload list is at hand: hops that browsers skip by it are not marked."]),
      ...(cut ? ["Some headers, long URLs or findings were left out."] : []),
      ...(body.error === null && !body.truncated
        ? []
        : ["The last page was not read to its end: a refresh further down is not seen."]),
      ...(chain.landing.unread ? [UNREAD] : []),
      "Scripts are not run: a redirect by script is not seen.",
    ],
  });
});
