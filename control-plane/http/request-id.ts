import type { Random } from "#shared/clock.ts";

/**
 * Makes request ids: `req_`, 12 characters that tell the process apart, and a counter. Unique over all replicas and
 * restarts, sortable within one, and cheap. A client's own X-Request-Id is not used: it would end up in our logs.
 */
export function createRequestIds(random: Random): () => string {
  const prefix = `req_${Buffer.from(random.bytes(9)).toString("base64url").replaceAll(/[-_]/g, "0")}`;
  let counter = 0;
  return () => {
    counter += 1;
    return prefix + counter.toString(36).padStart(6, "0");
  };
}
