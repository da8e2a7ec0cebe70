import { ok } from "#shared/outcome.ts";
import { schema as contract } from "#shared/tools/schema.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Reads the structured data of a page. A response that is not HTML has none. */
export const schema = implement(contract, async (net, { url }) => {
  const page = await fetchPage(net, url);
  if (page.status !== "ok") return page;
  const reading = await analysePage(net, page.data, "schema", {});
  if (reading.status !== "ok") return reading;
  const { head, observedAt } = page.data;
  const { report, limitations } = reading.data;
  return ok({
    ...head,
    ...report,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...limitations, ...report.limitations],
  });
});
