import { ok } from "#shared/contracts/outcome.ts";
import { schema as contract } from "#shared/tools/schema/contract.ts";
import { schemaAnalysis } from "#probe-agent/tools/schema/report.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Reads the structured data of a page. A response that is not HTML has none. */
export const schema = implement(contract, async (net, { url }) => {
  const fetched = await fetchPage(net, url);
  if (fetched.status !== "ok") return fetched;
  const analysis = await analysePage(net, fetched.data, schemaAnalysis, {});
  if (analysis.status !== "ok") return analysis;
  const { head, observedAt } = fetched.data;
  const { report, limitations } = analysis.data;
  return ok({
    ...head,
    ...report,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...limitations, ...report.limitations],
  });
});
