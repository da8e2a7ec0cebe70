import type { FastifyReply } from "fastify";

/** Returns a signal that is aborted when the client goes away before its answer is complete. */
export function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => {
    if (!raw.writableEnded) gone.abort();
  });
  return gone.signal;
}
