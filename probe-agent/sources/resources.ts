import { cacheReport } from "#probe-agent/analysis/http/cache-report.ts";
import {
  MAX_MEASURED,
  type MeasuredResource,
  type Measurement,
} from "#probe-agent/analysis/page/page-resources/measured.ts";
import type { PageResource } from "#probe-agent/analysis/page/page-resources/resource.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

const AT_ONCE = 8;
const REQUEST_MS = 8000;
/** Minimum time for a request to be worth sending. */
const LEAST_MS = 300;
/** Maximum decoded octets read of one resource. A larger resource counts with the size in its head. */
const MAX_BYTES = 3 * 1024 * 1024;
const MAX_REDIRECTS = 5;
/**
 * Types that are fetched whole. Many servers compress texts on the fly, and answer HEAD with the size before
 * compression or with none. For other types, the head shows the size, so less is sent.
 */
const FETCHED: ReadonlySet<PageResource["type"]> = new Set(["script", "stylesheet", "frame"]);

/**
 * Requests the first 60 resources, eight at the same time, for `budgetMs` milliseconds. Resources that do not answer
 * stay unknown.
 */
export async function measureResources(
  net: Net,
  resources: readonly PageResource[],
  budgetMs: number,
): Promise<Measurement> {
  const until = net.monotonic() + budgetMs;
  const queue = resources.slice(0, MAX_MEASURED);
  const measured: (MeasuredResource | null)[] = queue.map(() => null);
  const entries = queue.entries();
  const work = async (): Promise<void> => {
    // All workers share one iterator, so each takes the next resource.
    for (const [index, resource] of entries) {
      const timeoutMs = Math.min(REQUEST_MS, until - net.monotonic());
      if (timeoutMs < LEAST_MS) return;
      measured[index] = await measure(net, resource, timeoutMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const done = measured.filter((one) => one !== null);
  return { measured: done, unmeasured: resources.length - done.length };
}

async function measure(net: Net, resource: PageResource, timeoutMs: number): Promise<MeasuredResource> {
  const startedAt = net.monotonic();
  const ask = async (method: "GET" | "HEAD"): Promise<MeasuredResource> => {
    const left = timeoutMs - (net.monotonic() - startedAt);
    const fetched = await net.http.fetch({
      url: resource.url,
      method,
      follow: true,
      maxRedirects: MAX_REDIRECTS,
      maxBodyBytes: MAX_BYTES,
      timeoutMs: Math.max(1, left),
    });
    if (fetched.status === "ok") return describe(resource, fetched.data, method, net.now());
    const why =
      fetched.status === "failed" ? fetched.reason : "it leads to an address that the probe is not allowed to contact";
    return { ...resource, ...NOTHING, failure: why };
  };
  if (FETCHED.has(resource.type)) return await ask("GET");
  const head = await ask("HEAD");
  const hasSize = head.status === 200 && head.bytes !== null && head.bytes > 0;
  const gone = head.status === null || head.status === 404 || head.status === 410;
  return hasSize || gone || timeoutMs - (net.monotonic() - startedAt) < LEAST_MS ? head : await ask("GET");
}

const NOTHING = {
  status: null,
  bytes: null,
  decodedBytes: null,
  encoding: null,
  contentType: null,
  httpVersion: null,
  cache: null,
} as const;

function describe(
  resource: PageResource,
  { final, body, stopped }: PageSnapshot,
  method: "GET" | "HEAD",
  now: Date,
): MeasuredResource {
  const whole = method === "GET" && !body.truncated && body.error === null;
  const [length = ""] = headerValues(final.headers, "content-length");
  const declared = /^\d{1,15}$/.test(length) ? Number(length) : null;
  return {
    ...resource,
    status: final.code,
    bytes: final.code >= 400 ? null : whole ? body.transferredBytes : declared,
    decodedBytes: whole ? body.decodedBytes : null,
    encoding: method === "GET" ? body.encoding : joinedHeader(final.headers, "content-encoding"),
    contentType: joinedHeader(final.headers, "content-type"),
    httpVersion: final.httpVersion,
    cache: cacheReport(final.headers, final.code, now),
    failure:
      stopped !== null ? stopped : final.code >= 400 ? `status ${final.code}` : body.error !== null ? body.error : null,
  };
}
