/** All statuses of a probe, worst last. */
export const PROBE_STATUSES = ["online", "draining", "offline", "disabled", "revoked"] as const;

/** Status of a probe as operators see it. */
export type ProbeStatus = (typeof PROBE_STATUSES)[number];

/** Facts from which the status follows. */
export interface StatusFacts {
  readonly revoked: boolean;
  readonly enabled: boolean;
  /** Its stream to this replica; null if there is none. */
  readonly here: { readonly draining: boolean } | null;
  /** Other live replicas to which it has a stream, and whether it drains on all of them. */
  readonly elsewhere: { readonly replicas: readonly string[]; readonly draining: boolean };
}

/** Returns the status. The operator's decision comes first; a probe that accepts jobs on any replica is online. */
export function statusOf({ revoked, enabled, here, elsewhere }: StatusFacts): ProbeStatus {
  if (revoked) return "revoked";
  if (!enabled) return "disabled";
  const streams = [
    ...(here === null ? [] : [here.draining]),
    ...(elsewhere.replicas.length === 0 ? [] : [elsewhere.draining]),
  ];
  if (streams.length === 0) return "offline";
  return streams.every((draining) => draining) ? "draining" : "online";
}
