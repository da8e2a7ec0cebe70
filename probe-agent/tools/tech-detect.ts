import { ok } from "#shared/contracts/outcome.ts";
import { techDetect as contract } from "#shared/tools/tech-detect/contract.ts";
import { reportTechnologies } from "#probe-agent/analysis/page/tech/report.ts";
import { fingerprint } from "#probe-agent/sources/fingerprint.ts";
import { fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Maximum time to fetch the page, in milliseconds. Leaves time to analyse it. */
const PAGE_MS = 18_000;

/** Detects technologies by a page, its headers, the DNS records of its host and its certificate. */
export const techDetect = implement(contract, async (net, { url }) => {
  const seen = await fetchPage(net, url, { timeoutMs: PAGE_MS });
  if (seen.status !== "ok") return seen;
  const { head, observedAt } = seen.data;
  const found = await fingerprint(net, seen.data);
  if (found.status !== "ok") return found;
  const { technologies, count, categories, limitations: cut } = reportTechnologies(found.data.technologies);
  return ok({
    ...head,
    technologies,
    count,
    categories,
    js_detection: "static" as const,
    rules: { technologies: net.data.techRules.technologies.length, unusable: found.data.unusable },
    source: ["page", ...found.data.sources],
    observed_at: observedAt,
    limitations: [...cut, ...found.data.limitations],
  });
});
