import type { Net } from "#probe-agent/toolkit/net.ts";
import type { HttpRequest } from "#probe-agent/port/http.ts";

/** A fetched document, or a short reason why there is none. */
export type Fetched =
  | { readonly ok: true; readonly octets: Uint8Array }
  | { readonly ok: false; readonly error: string };

/** A limited number of fetches from foreign servers, within the job's time. */
export interface Fetches {
  /**
   * Returns the body of an answer with status 200. Errors: a reason of net.http, http_<code>, target_not_allowed,
   * too_large, incomplete, too_many_fetches, out_of_time.
   */
  fetch(request: Omit<HttpRequest, "follow" | "trusted"> & { readonly maxBodyBytes: number }): Promise<Fetched>;
  /** Returns the wait in milliseconds, limited to the job's remaining time. 0 if nothing is left. */
  patienceMs(wait: number): number;
}

/** Maximum number of redirects followed. Each hop is vetted like the first one. */
const MAX_REDIRECTS = 2;

/** Creates a budget of `limit` fetches. Each ends `reserveMs` before the end of the job. */
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
