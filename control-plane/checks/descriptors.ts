import type { ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";

/** Maximum number of connections of each listener, so that no listener takes the descriptors of another. */
export interface ConnectionPlan extends Pick<ConnectionLimits, "strangers" | "agents"> {
  /** Maximum of the HTTP listener. */
  readonly http: number;
}

/**
 * Descriptors for everything except connections of callers and agents: about 50 for Node, the log and the database
 * connections, 64 for the metrics listener, and some for webhooks and look-ups.
 */
const RESERVED = 192;
/** Maximums that protect memory, not descriptors: an idle connection takes about 20 KB, 60 KB with TLS and HTTP/2. */
const MOST_HTTP = 16_384;
const MOST_AGENTS = 8_192;
const MOST_STRANGERS = 512;

/**
 * Divides the limit of open files: half for HTTP, an eighth for unidentified peers on the agents' port, the rest for
 * agents.
 */
export function planConnections(descriptors: number): ConnectionPlan {
  const free = Math.max(8, descriptors - RESERVED);
  const http = Math.min(MOST_HTTP, Math.floor(free / 2));
  const strangers = Math.min(MOST_STRANGERS, Math.floor(free / 8));
  return { http, strangers, agents: Math.min(MOST_AGENTS, free - http - strangers) };
}
