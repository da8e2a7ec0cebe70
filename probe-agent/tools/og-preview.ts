import { ok } from "#shared/outcome.ts";
import { ogPreview as contract } from "#shared/tools/og-preview.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { makePreviews } from "#probe-agent/analysis/page/social/preview.ts";
import { socialFindings } from "#probe-agent/analysis/page/social/findings.ts";
import { missingRequired } from "#probe-agent/analysis/page/social/required.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { excerpt } from "#probe-agent/analysis/page/structured/excerpt.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { checkImage } from "#probe-agent/tools/og-preview/image-check.ts";

/** Maximum time for the image, in milliseconds. */
const IMAGE_MS = 12_000;
/** Time reserved for the rest of the check, in milliseconds. */
const RESERVE_MS = 1000;
/** Approximate maximum size of the Open Graph object in the result, in characters. */
const GRAPH_BUDGET = 25_000;

/** Reports what a shared link to a page looks like, and checks its first image. */
export const ogPreview = implement(contract, async (net, { url }) => {
  const fetched = await fetchPage(net, url);
  if (fetched.status !== "ok") return fetched;
  const analysis = await analysePage(net, fetched.data, "og-preview", {});
  if (analysis.status !== "ok") return analysis;
  const { head, observedAt } = fetched.data;
  const { tags, reading, card, fallback } = analysis.data.report;
  const image = reading.graph.image.find((one) => one.url !== null)?.url ?? null;
  const { check, late } = await fetchImage(net, image);
  const checked = check === null ? null : { ...check, reachable: check.code === 200 };
  const og = excerpt(reading.graph, GRAPH_BUDGET);
  const pageUrl = head.final_url;
  const previews = makePreviews({ pageUrl, graph: reading.graph, card, fallback, checked });
  const { findings, limitations: leftOut } = fitFindings(
    socialFindings({ pageUrl, tags, reading, card, image: check, previews }),
  );
  return ok({
    ...head,
    findings,
    og: og.value,
    twitter: card,
    fallback,
    preview: {
      facebook: previews.facebook.preview,
      x: previews.x.preview,
      linkedin: previews.linkedin.preview,
      slack: previews.slack.preview,
    },
    image_check: check,
    missing_required: missingRequired(reading),
    source: ["page", ...(check === null ? [] : ["image"])],
    observed_at: observedAt,
    limitations: [
      ...analysis.data.limitations,
      ...(og.cut ? ["Long texts and lists of the Open Graph object are shortened."] : []),
      ...(late ? ["The image did not arrive in time."] : []),
      ...(check !== null && check.code === 200 && check.bytes === null
        ? ["The size of the image in bytes is unknown."]
        : []),
      ...leftOut,
      "Facebook, LinkedIn and (for titles) Slack do not document where they cut text.",
    ],
  });
});

async function fetchImage(net: Net, url: string | null) {
  if (url === null) return { check: null, late: false };
  const budget = Math.min(IMAGE_MS, net.remainingMs() - RESERVE_MS);
  const check = await waitAtMost(budget, checkImage(net, url), null);
  return { check, late: check === null };
}
