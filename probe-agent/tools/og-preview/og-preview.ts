import { ok } from "#shared/contracts/outcome.ts";
import { ogPreview as contract } from "#shared/tools/og-preview/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { socialAnalysis, makePreviews } from "#probe-agent/tools/og-preview/preview.ts";
import { socialFindings } from "#probe-agent/tools/og-preview/findings.ts";
import { missingRequired, typeMatches } from "#probe-agent/analysis/page/social-required.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { excerpt } from "#probe-agent/analysis/page/structured/excerpt.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { readImageHeader } from "#probe-agent/analysis/page/image-size.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

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
  const analysis = await analysePage(net, fetched.data, socialAnalysis, {});
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

/**
 * Maximum number of bytes read of an image. Its width and height are near the beginning; only metadata can come before
 * them.
 */
const IMAGE_BYTES = 512 * 1024;
const NO_REGISTRATION = {
  code: null,
  content_type: null,
  format: null,
  type_matches: null,
  bytes: null,
  width: null,
  height: null,
  ratio: null,
} as const;

async function fetchImage(net: Net, url: string | null) {
  if (url === null) return { check: null, late: false };
  const budget = Math.min(IMAGE_MS, net.remainingMs() - RESERVE_MS);
  const check = await waitAtMost(budget, checkImage(net, url), null);
  return { check, late: check === null };
}

/**
 * Fetches the beginning of an image and reads its format and size. Never throws: the reason of a failure is in `error`.
 */
async function checkImage(net: Net, url: string) {
  if (!/^https?:/.test(url))
    return { url: url.slice(0, 200), ...NO_REGISTRATION, error: "not an http or https address" };
  const fetched = await net.http.fetch({ url, method: "GET", follow: true, maxBodyBytes: IMAGE_BYTES });
  if (fetched.status === "failed") return { url, ...NO_REGISTRATION, error: fetched.message };
  if (fetched.status !== "ok")
    return { url, ...NO_REGISTRATION, error: "leads to an address that probes must not contact" };
  const { final, body } = fetched.data;
  const contentType = joinedHeader(final.headers, "content-type");
  const response = {
    url,
    ...NO_REGISTRATION,
    code: final.code,
    content_type: contentType,
    bytes: bytesOf(fetched.data),
  };
  if (final.code !== 200) return { ...response, error: `responds with status ${final.code}` };
  const header = readImageHeader(body.bytes);
  const size = header?.size ?? null;
  const format = header?.format ?? null;
  return {
    ...response,
    format,
    type_matches: typeMatches({ content_type: contentType, format }),
    width: size?.width ?? null,
    height: size?.height ?? null,
    ratio: size === null ? null : Math.round((size.width / size.height) * 1000) / 1000,
    error: errorOf(header === null, size === null, body.error),
  };
}

function errorOf(unknownFormat: boolean, unknownSize: boolean, failure: string | null): string | null {
  if (failure !== null) return `could not be read completely: ${failure}`;
  if (unknownFormat) return "not an image of a known format";
  return unknownSize ? "the image header has no size" : null;
}

/**
 * Returns the size of the whole image in bytes: counted if the image was read completely, otherwise from
 * Content-Length. Returns null if it is unknown.
 */
function bytesOf({ final, body }: PageSnapshot): number | null {
  if (!body.truncated) return body.error === null ? body.decodedBytes : null;
  const [length = ""] = headerValues(final.headers, "content-length");
  return body.encoding === null && /^\d{1,15}$/.test(length) ? Number(length) : null;
}
