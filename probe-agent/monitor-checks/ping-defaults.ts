/** Parameters of the ping tool that monitors do not set. */
export const PING_DEFAULTS = {
  max_hops: 30,
  size: 56,
  interval_ms: 200,
  ttl: 64,
  queries: 3,
} as const;
