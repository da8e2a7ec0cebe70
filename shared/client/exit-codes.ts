import { field } from "#shared/client/call.ts";

/** Exit status of a wrong command line, and of a request that the service refuses. */
export const USAGE = 2;
/** Exit status after Ctrl-C, as shells have it: 128 and SIGINT. */
export const INTERRUPTED = 130;
/** Exit status if no service can be reached. */
export const NO_SERVICE = 5;

/**
 * Returns the exit status for an answer of the service, by its HTTP status and its error: 0 success, 1 the target or a
 * resolver failed, 2 the request is wrong, 3 the key does not allow it now, 4 no probe could do it, 5 the service failed.
 */
export function exitCodeOf(status: number, body: unknown): 2 | 3 | 4 | 5 | 1 | 0 {
  const error = field(body, "error");
  if (status >= 200 && status < 400) return 0;
  if (status === 401 || status === 403 || status === 429) return 3;
  if (status >= 400 && status < 500) return 2;
  if (field(error, "code") === "probe_unavailable") return 4;
  if (status !== 502) return 5;
  const source = field(error, "source");
  if (source === "target" || source === "resolver") return 1;
  return source === "probe" ? 4 : 5;
}
