import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { PageResources } from "#probe-agent/analysis/page/page-resources.ts";
import {
  isCompressible,
  sumBytes,
  WORTH_COMPRESSING_BYTES,
  type MeasuredResource,
  type Measurement,
} from "#probe-agent/analysis/page/page-resources/measured.ts";
import {
  RESOURCE_TYPES,
  type PageResource,
  type ResourceType,
} from "#probe-agent/analysis/page/page-resources/resource.ts";

/** Maximum size of one list as JSON, in bytes. */
const LIST_BYTES = 24_000;
const MAX_FAILED = 30;
const MAX_HOSTS = 30;
const WEEK_S = 604_800;

/** Reports the resources of a page as in the result. */
export function resourceReport(found: PageResources, { measured, unmeasured }: Measurement, pageBytes: number) {
  const sizes = new Map(measured.map(({ url, bytes }) => [url, bytes]));
  const sized = ({ url, type, thirdParty }: PageResource) => ({
    url,
    type,
    bytes: sizes.get(url) ?? null,
    third_party: thirdParty,
  });
  const of = (type: ResourceType) => found.resources.filter((resource) => resource.type === type);
  const byType = <T>(value: (type: ResourceType) => T) =>
    Object.fromEntries(RESOURCE_TYPES.map((type) => [type, value(type)])) as Record<ResourceType, T>;
  const bytesOf = (list: readonly PageResource[]) => sumBytes(list.map(({ url }) => sizes.get(url) ?? null)).bytes;
  const blocking = found.resources.filter(({ renderBlocking }) => renderBlocking);
  const uncompressed = measured.filter((resource) => isText(resource) && resource.encoding === null);
  const uncached = measured.filter((resource) => isStatic(resource) && !isKeptForWeek(resource));
  const foreign = found.resources.filter(({ thirdParty }) => thirdParty);
  return {
    total: found.resources.length,
    measured: measured.length,
    count: byType((type) => of(type).length),
    bytes: byType((type) => bytesOf(of(type))),
    total_bytes: pageBytes + bytesOf(found.resources),
    unknown_sizes: unmeasured + sumBytes([...sizes.values()]).unknown,
    third_party: { count: foreign.length, bytes: bytesOf(foreign), hosts: hostsOf(foreign) },
    render_blocking: leading(blocking.map(sized), LIST_BYTES),
    render_blocking_total: blocking.length,
    without_compression: leading(uncompressed.map(sized), LIST_BYTES),
    without_compression_total: uncompressed.length,
    without_cache: leading(uncached.map(cacheOf), LIST_BYTES),
    without_cache_total: uncached.length,
    failed: leading(
      measured.flatMap(({ url, failure }) => (failure === null ? [] : [{ url, reason: failure }])).slice(0, MAX_FAILED),
      LIST_BYTES,
    ),
  };
}

/** Reports whether a resource was fetched with status 200 and is a text large enough to gain by compression. */
export function isText({ status, contentType, decodedBytes, bytes }: MeasuredResource): boolean {
  return status === 200 && isCompressible(contentType) && (decodedBytes ?? bytes ?? 0) >= WORTH_COMPRESSING_BYTES;
}

/** Reports whether a resource was fetched with status 200 and is static. Frames are pages and not static. */
export function isStatic({ status, type }: MeasuredResource): boolean {
  return status === 200 && type !== "frame";
}

/** Reports whether browsers can use a resource for a week without revalidation. */
export function isKeptForWeek({ cache }: MeasuredResource): boolean {
  const fresh = cache === null || cache.always_revalidate || cache.browser?.from === "heuristic" ? null : cache.browser;
  return fresh !== null && fresh.fresh_s >= WEEK_S;
}

function cacheOf({ url, type, cache, thirdParty }: MeasuredResource) {
  const freshness = cache?.browser ?? null;
  return {
    url,
    type,
    cache_control: cache?.cache_control?.slice(0, 200).toWellFormed() ?? null,
    fresh_s:
      freshness === null || freshness.from === "heuristic" || cache?.always_revalidate === true
        ? null
        : freshness.fresh_s,
    third_party: thirdParty,
  };
}

function hostsOf(resources: readonly PageResource[]): { host: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { url } of resources) {
    const { hostname } = new URL(url);
    counts.set(hostname, (counts.get(hostname) ?? 0) + 1);
  }
  const hosts = Array.from(counts, ([host, count]) => ({ host, count }));
  return hosts
    .toSorted((one, other) => other.count - one.count || (one.host < other.host ? -1 : 1))
    .slice(0, MAX_HOSTS);
}
