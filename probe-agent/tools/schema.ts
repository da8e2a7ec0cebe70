import { ok } from "#shared/outcome.ts";
import { schema as contract } from "#shared/tools/schema.ts";
import { readHtml } from "#probe-agent/analysis/html.ts";
import { structuredReport } from "#probe-agent/analysis/structured/report.ts";
import { seePage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Structured data of one page; an answer that is no HTML has none. */
export const schema = implement(contract, async (net, { url }) => {
  const seen = await seePage(net, url);
  if (seen.status !== "ok") return seen;
  const { page, head, observedAt, limitations } = seen.data;
  const report = structuredReport(page ?? readHtml(""), head.final_url);
  return ok({
    ...head,
    ...report,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...limitations, ...report.limitations],
  });
});
