import { ok } from "#shared/contracts/outcome.ts";
import { check as contract } from "#shared/tools/check.ts";
import { endlessRedirects } from "#probe-agent/tools/check/endless.ts";
import { reportFetch } from "#probe-agent/tools/check/report.ts";
import { reverseOf } from "#probe-agent/tools/check/reverse.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/**
 * Reports one fetch. An endless chain of redirects is a failure of the target. The input {families: false} omits the
 * connection to the other address family.
 */
export const check = implement(contract, async (net, { url, method, follow, ua }, input = {}) => {
  const startedAt = net.now();
  const fetched = await net.http.fetch({
    url,
    method,
    follow,
    ...(ua === undefined ? {} : { userAgent: ua }),
    ...(input["families"] === false ? {} : { tryOtherFamily: true }),
  });
  if (fetched.status !== "ok") return fetched;
  const page = fetched.data;
  const endless = endlessRedirects(page);
  if (endless !== null) return endless;
  return ok(reportFetch(page, { method, startedAt, reverse: await reverseOf(net, page.final.ip) }));
});
