import type { Random } from "#shared/time/clock.ts";

/**
 * Creates a generator of request ids: `req_`, 12 random characters for the process, and a counter. Ids are unique over
 * all replicas and restarts and sortable within one process. The client's X-Request-Id is not used, to keep client input
 * out of the logs.
 */
export function createRequestIds(random: Random): () => string {
  const prefix = `req_${Buffer.from(random.bytes(9)).toString("base64url").replaceAll(/[-_]/g, "0")}`;
  let counter = 0;
  return () => {
    counter += 1;
    return prefix + counter.toString(36).padStart(6, "0");
  };
}
