import { ok } from "#shared/outcome.ts";
import { schema as contract } from "#shared/tools/schema.ts";
import { readSeen, seePage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Structured data of one page; an answer that is no HTML has none. */
export const schema = implement(contract, async (net, { url }) => {
  const seen = await seePage(net, url);
  if (seen.status !== "ok") return seen;
  const read = await readSeen(net, seen.data, "schema", {});
  if (read.status !== "ok") return read;
  const { head, observedAt } = seen.data;
  const { report, limitations } = read.data;
  return ok({
    ...head,
    ...report,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...limitations, ...report.limitations],
  });
});
