import { ok } from "#shared/contracts/outcome.ts";
import { carbon as contract } from "#shared/tools/carbon/contract.ts";
import { resourcesAnalysis } from "#probe-agent/analysis/page/page-resources.ts";
import {
  carbonReport,
  GRID_INTENSITY_G_PER_KWH,
  readGreenCheck,
  type GreenCheck,
} from "#probe-agent/analysis/page/carbon.ts";
import { resourceLimitations, sumBytes } from "#probe-agent/analysis/page/page-resources/measured.ts";
import type { ResourceType } from "#probe-agent/analysis/page/page-resources/resource.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { analysePage, fetchPage, type FetchedPage } from "#probe-agent/sources/page.ts";
import { measureResources } from "#probe-agent/sources/resources.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchJson } from "#probe-agent/sources/json.ts";
import { mayReceiveTarget } from "#probe-agent/sources/third-party-services.ts";

/** Data about a host, or a short reason why there is none. */
type GreenAnswer = { readonly ok: true; readonly check: GreenCheck } | { readonly ok: false; readonly reason: string };

const MAX_BYTES = 256 * 1024;

/** Asks the Green Web Foundation (or the operator's own service in its place) about a host with these addresses. */
async function askGreenWeb(
  net: Net,
  host: string,
  addresses: readonly string[],
  timeoutMs: number,
): Promise<GreenAnswer> {
  const { greencheckUrl } = net.services;
  if (!mayReceiveTarget(greencheckUrl, addresses))
    return { ok: false, reason: "the host is not on the public internet" };
  const url = `${greencheckUrl}/api/v3/greencheck/${encodeURIComponent(host)}`;
  const answer = await fetchJson(net, { url, trusted: true, maxBytes: MAX_BYTES, timeoutMs });
  if (!answer.ok) return { ok: false, reason: answer.reason };
  const check = readGreenCheck(answer.value);
  return check === null ? { ok: false, reason: "an answer in an unknown form" } : { ok: true, check };
}

/** Time kept to build the result, and maximum time for the Green Web Foundation, in milliseconds. */
const RESERVE_MS = 1500;
const GREEN_MS = 8000;

const KINDS: Readonly<Record<ResourceType, "html" | "css" | "js" | "images" | "fonts" | "other">> = {
  frame: "html",
  stylesheet: "css",
  script: "js",
  image: "images",
  font: "fonts",
  media: "other",
  other: "other",
};

const CAVEATS = [
  "Scripts were not run. Resources loaded by scripts and style sheets are not counted, so real visits transfer more.",
  "The model estimates energy from bytes, with global averages for equipment and electricity.",
  "Every visit is counted as a first visit. Returning visitors have parts of the page in their cache.",
];

/** Measures the bytes of a page and its resources, and estimates the emissions of their transfer. */
export const carbon = implement(contract, async (net, { url }) => {
  const seen = await fetchPage(net, url);
  if (seen.status !== "ok") return seen;
  const read = await analysePage(net, seen.data, resourcesAnalysis, {});
  if (read.status !== "ok") return read;
  const { head, snapshot, observedAt } = seen.data;
  const { final } = snapshot;
  const { found } = read.data.report;
  const { hostname } = new URL(head.final_url);
  const [measurement, green] = await Promise.all([
    measureResources(net, found.resources, net.remainingMs() - RESERVE_MS),
    askGreenWeb(net, hostname, [final.ip], Math.min(GREEN_MS, Math.max(1, net.remainingMs() - RESERVE_MS))),
  ]);
  const { measured, unmeasured } = measurement;
  const own = pageBytes(seen.data);
  const bytes = { html: own ?? 0, css: 0, js: 0, images: 0, fonts: 0, other: 0 };
  for (const resource of measured) bytes[KINDS[resource.type]] += resource.bytes ?? 0;
  const total = Object.values(bytes).reduce((sum, part) => sum + part, 0);
  const { unknown } = sumBytes([own, ...measured.map((resource) => resource.bytes)]);
  const check = green.ok ? green.check : null;
  return ok({
    ...head,
    bytes: { ...bytes, total },
    lazy_bytes: sumBytes(measured.filter(({ lazy }) => lazy).map((resource) => resource.bytes)).bytes,
    requests: 1 + found.resources.length,
    unknown_sizes: unknown + unmeasured,
    ...carbonReport(total, check?.green === true),
    green_host: {
      green: check?.green ?? null,
      hosted_by: check?.hostedBy ?? null,
      source: "Green Web Foundation",
      checked: hostname,
      documents: (check?.documents ?? []).map((document) => ({ ...document })),
    },
    model: "swd-v4",
    grid_intensity: {
      data_center_g_per_kwh: check?.green === true ? 0 : GRID_INTENSITY_G_PER_KWH,
      network_g_per_kwh: GRID_INTENSITY_G_PER_KWH,
      device_g_per_kwh: GRID_INTENSITY_G_PER_KWH,
      scope: "global average",
    },
    caveats: CAVEATS,
    source: ["page", ...(measured.length > 0 ? ["resources"] : []), ...(green.ok ? ["Green Web Foundation"] : [])],
    observed_at: observedAt,
    limitations: [
      ...read.data.limitations,
      ...(green.ok ? [] : [`Whether the host is green is unknown (${green.reason}), so it is counted as not green.`]),
      ...(own === null ? ["The page's own size is unknown, because the page was not read to its end."] : []),
      ...resourceLimitations(measurement, found.truncated),
    ],
  });
});

/**
 * Returns the page's size on the wire. If it was not read to its end, returns its Content-Length, or null without one.
 */
function pageBytes({ snapshot: { body, final } }: FetchedPage): number | null {
  if (!body.truncated && body.error === null) return body.transferredBytes;
  const [length = ""] = headerValues(final.headers, "content-length");
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}
