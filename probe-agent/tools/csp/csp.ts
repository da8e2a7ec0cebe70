import { ok } from "#shared/contracts/outcome.ts";
import { csp as contract } from "#shared/tools/csp/contract.ts";
import { cspAnalysis } from "#probe-agent/tools/csp/report.ts";
import { analysePage, fetchSlowPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Analyses the policies of a page's headers and meta elements together. */
export const csp = implement(contract, async (net, { url }) => {
  const seen = await fetchSlowPage(net, url);
  if (seen.status !== "ok") return seen;
  const read = await analysePage(net, seen.data, cspAnalysis, {});
  if (read.status !== "ok") return read;
  const { head, observedAt } = seen.data;
  const { fields, limitations } = read.data.report;
  return ok({
    ...head,
    ...fields,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...read.data.limitations, ...limitations],
  });
});
