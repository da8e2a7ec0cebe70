import type { TraceRequest } from "#probe-agent/port/packets.ts";

/** Limits and intervals of a trace. Times are in milliseconds. */
export interface TraceTiming {
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Number of flows that the probes of a hop use in turn. 1 follows only one of several equal paths. */
  readonly flows: number;
  /** Maximum number of hops whose first probe has no answer so far. */
  readonly window: number;
  /** Number of hops probed beyond the farthest answer. */
  readonly lookahead: number;
  /** Interval between any two packets of the trace. */
  readonly packetGapMs: number;
  /** Interval between two probes of a hop that answers. */
  readonly hopGapMs: number;
  /**
   * Interval between two trials, and between two probes of a silent hop. Routers answer once a second when their burst
   * is used up.
   */
  readonly retryGapMs: number;
  /** Time after which a probe counts as silent. A later answer still counts. */
  readonly silentAfterMs: number;
  /** Number of silent hops in a row that end the trace. */
  readonly silentHops: number;
  /** Time to listen to a silent path, from the first probe of its first silent hop. */
  readonly lingerMs: number;
  /**
   * Number of trials of each hop at and behind the first one that left a probe unanswered. Trials are probes that
   * distinguish loss from a limit on answers.
   */
  readonly trials: number;
  /** Number of further trials, which replace those that probes of another trace made invalid. */
  readonly extraTrials: number;
  /** Minimum number of tries at a hop that does not answer. One lost probe does not prove silence. */
  readonly silentTries: number;
}

/** With one or two trials, one loss would prove little. */
const LEAST_TRIALS = 3;

/** Waits of a trace (RFC 1812 section 4.3.2.8 lets routers limit their errors). */
const PATIENCE = {
  hopGapMs: 50,
  retryGapMs: 1_050,
  silentAfterMs: 1_000,
  silentHops: 5,
  lingerMs: 4_000,
  extraTrials: 4,
  silentTries: 3,
} as const;

/**
 * How far a trace probes ahead of the answers. The first round is one probe per router, which is below every limit.
 * Probes that overshoot reach the target: echo replies are not limited, "port unreachable" is limited after six, and a
 * listener should receive few SYNs.
 */
const AHEAD = {
  icmp: { window: 16, lookahead: 12, packetGapMs: 2 },
  udp: { window: 6, lookahead: 5, packetGapMs: 2 },
  tcp: { window: 8, lookahead: 6, packetGapMs: 2 },
} as const;

/** Returns the timing of a trace. */
export function timingOf(
  request: Pick<TraceRequest, "protocol" | "firstHop" | "maxHops" | "queries" | "flows">,
): TraceTiming {
  return {
    ...PATIENCE,
    ...AHEAD[request.protocol],
    firstHop: request.firstHop ?? 1,
    maxHops: request.maxHops,
    queries: request.queries,
    trials: Math.max(LEAST_TRIALS, request.queries),
    flows: request.flows ?? 1,
  };
}
