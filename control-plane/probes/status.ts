/** Every status of a probe, worst last. */
export const PROBE_STATUSES = ["online", "draining", "offline", "disabled", "revoked"] as const;

/** A probe as operators see it. */
export type ProbeStatus = (typeof PROBE_STATUSES)[number];

/** What decides on it. */
export interface StatusFacts {
  readonly revoked: boolean;
  readonly enabled: boolean;
  /** Its stream to this replica; null: none. */
  readonly here: { readonly draining: boolean } | null;
  /** Other live replicas that have a stream of it, and whether it drains on all of them. */
  readonly elsewhere: { readonly replicas: readonly string[]; readonly draining: boolean };
}

/** What the operator decided comes first; a probe that takes work anywhere is online. */
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
