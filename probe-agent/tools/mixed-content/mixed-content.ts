import { ok } from "#shared/contracts/outcome.ts";
import { mixedContent as contract } from "#shared/tools/mixed-content/contract.ts";
import { mixedContentAnalysis } from "#probe-agent/tools/mixed-content/report.ts";
import { isBodyIncomplete, analysePage, fetchSlowPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Finds the insecure references in a page's HTML. */
export const mixedContent = implement(contract, async (net, { url }) => {
  const seen = await fetchSlowPage(net, url);
  if (seen.status !== "ok") return seen;
  const read = await analysePage(net, seen.data, mixedContentAnalysis, {});
  if (read.status !== "ok") return read;
  const { head, isHtml, observedAt } = seen.data;
  const { fields, limitations } = read.data.report;
  // If a page is incomplete and its part has no insecure reference, the page is not known to be clean.
  const unsure = fields.https && fields.verdict === "clean" && isBodyIncomplete(seen.data);
  return ok({
    ...head,
    ...fields,
    ...(unsure ? { verdict: null } : {}),
    source: ["page"],
    observed_at: observedAt,
    limitations: [...(isHtml && fields.https ? [CAVEAT] : []), ...read.data.limitations, ...limitations],
  });
});

const CAVEAT = "Only the HTML was checked. Style sheets, scripts and frames can load more.";
