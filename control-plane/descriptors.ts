import type { ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";

/** How many connections each listener may hold, so that no listener takes the descriptors of another. */
export interface ConnectionPlan extends Pick<ConnectionLimits, "strangers" | "agents"> {
  /** Of the HTTP listener. */
  readonly http: number;
}

/**
 * For all that is not a connection of a caller or an agent: about 50 that Node, the log and the database connections take,
 * 64 of the metrics listener, and room for webhooks and look-ups.
 */
const RESERVED = 192;
/** Memory, not descriptors, is the bound above these: about 20 KB for an idle connection, 60 KB with TLS and HTTP/2. */
const MOST_HTTP = 16_384;
const MOST_AGENTS = 8_192;
const MOST_STRANGERS = 512;

/** Divides a limit of open files: half to HTTP, an eighth to strangers on the agents' port, the rest to agents. */
export function planConnections(descriptors: number): ConnectionPlan {
  const free = Math.max(8, descriptors - RESERVED);
  const http = Math.min(MOST_HTTP, Math.floor(free / 2));
  const strangers = Math.min(MOST_STRANGERS, Math.floor(free / 8));
  return { http, strangers, agents: Math.min(MOST_AGENTS, free - http - strangers) };
}
