import { ok } from "#shared/contracts/outcome.ts";
import { redirects as contract } from "#shared/tools/redirects/contract.ts";
import { FOLLOWED_DELAY_S } from "#probe-agent/analysis/web/redirect-chain.ts";
import { redirectReport } from "#probe-agent/analysis/web/redirects.ts";
import { failureRow, followChain } from "#probe-agent/sources/chain.ts";
import { HTML_NOT_EXAMINED } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Follows a redirect chain once and reports it. */
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
        ? [`Refreshes with a delay of up to ${FOLLOWED_DELAY_S} s are followed immediately, without waiting.`]
        : []),
      ...(net.data.hasHstsPreload
        ? []
        : ["No HSTS preload list is available: hops that browsers skip because of it are not marked."]),
      ...(cut ? ["Some headers, long URLs or findings were left out."] : []),
      ...(body.error === null && !body.truncated
        ? []
        : ["The last page was not read to its end: a refresh in the rest is not detected."]),
      ...(chain.landing.unread ? [HTML_NOT_EXAMINED] : []),
      "Scripts are not executed: redirects by script are not detected.",
    ],
  });
});
