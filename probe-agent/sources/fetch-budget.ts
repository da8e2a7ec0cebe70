import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest } from "#probe-agent/port/http.ts";

/** A document that came, or in a word why not. */
export type Fetched =
  | { readonly ok: true; readonly octets: Uint8Array }
  | { readonly ok: false; readonly error: string };

/** A few fetches from strangers, counted, within the job's time. */
export interface Fetches {
  /**
   * The body of a 200 answer. Errors: a reason of net.http's, http_<code>, target_not_allowed, too_large, incomplete,
   * too_many_fetches, out_of_time.
   */
  fetch(request: Omit<HttpRequest, "follow" | "trusted"> & { readonly maxBodyBytes: number }): Promise<Fetched>;
  /** The wait, cut to what is left of the job; 0 for nothing. */
  patienceMs(wait: number): number;
}

/** Redirects followed; each hop is vetted as the first is. */
const MAX_REDIRECTS = 2;

/** So many fetches, none of which outlasts what is left of the job but for `reserveMs`. */
export function createFetches(net: Net, limit: number, reserveMs: number): Fetches {
  let left = limit;
  const patienceMs = (wait: number): number => Math.max(0, Math.min(wait, net.remainingMs() - reserveMs));
  return {
    patienceMs,
    async fetch(request) {
      const timeoutMs = patienceMs(request.timeoutMs ?? Infinity);
      if (left === 0) return { ok: false, error: "too_many_fetches" };
      if (timeoutMs === 0) return { ok: false, error: "out_of_time" };
      left -= 1;
      const fetched = await net.http.fetch({ ...request, follow: true, maxRedirects: MAX_REDIRECTS, timeoutMs });
      if (fetched.status === "failed") return { ok: false, error: fetched.reason };
      if (fetched.status === "refused") return { ok: false, error: "target_not_allowed" };
      if (fetched.status !== "ok") return { ok: false, error: "invalid_url" };
      const { final, body } = fetched.data;
      if (final.code !== 200) return { ok: false, error: `http_${final.code}` };
      if (body.truncated) return { ok: false, error: "too_large" };
      return body.error === null ? { ok: true, octets: body.bytes } : { ok: false, error: "incomplete" };
    },
  };
}
