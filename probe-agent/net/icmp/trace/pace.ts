import type { TraceRequest } from "#probe-agent/port/packets.ts";

/** Limits and intervals of a trace; times in milliseconds. */
export interface TracePace {
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Number of flows that the probes of a hop use in turn; 1 follows one of several equal paths. */
  readonly flows: number;
  /** Most hops whose first probe has no answer yet. */
  readonly window: number;
  /** Number of hops probed beyond the farthest answer. */
  readonly lookahead: number;
  /** Between any two packets of the trace. */
  readonly packetGapMs: number;
  /** Between two probes of a hop that answers. */
  readonly hopGapMs: number;
  /** Between two trials, and two probes of a hop that was silent: routers answer once a second when their burst is used up. */
  readonly retryGapMs: number;
  /** A probe counts as silent after this time; a later answer still counts. */
  readonly silentAfterMs: number;
  /** Silent hops in a row that end the trace. */
  readonly silentHops: number;
  /** How long to listen to a silent path, from the first probe of its first silent hop. */
  readonly lingerMs: number;
  /**
   * Trials of each hop at and behind the first one that left a probe unanswered: probes that distinguish
   * loss from a limit on answers.
   */
  readonly trials: number;
  /** Further trials, to replace those that the probes of another trace made invalid. */
  readonly extraTrials: number;
  /** Least number of tries at a hop that does not answer: one lost probe does not prove silence. */
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
 * How far a trace probes ahead of the answers. The first round is one probe per router, below every limit; probes that
 * overshoot reach the target. Echo replies are not limited; "port unreachable" is, after six; SYNs to a listener are better few.
 */
const AHEAD = {
  icmp: { window: 16, lookahead: 12, packetGapMs: 2 },
  udp: { window: 6, lookahead: 5, packetGapMs: 2 },
  tcp: { window: 8, lookahead: 6, packetGapMs: 2 },
} as const;

/** Returns the pace of a trace. */
export function paceOf(
  request: Pick<TraceRequest, "protocol" | "firstHop" | "maxHops" | "queries" | "flows">,
): TracePace {
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
