import type { TraceRequest } from "#probe-agent/port/packets.ts";

/** What bounds a trace; times in milliseconds. */
export interface TracePace {
  readonly firstHop: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Flows the probes of a hop take in turn; 1 follows one of several equal paths. */
  readonly flows: number;
  /** Hops whose first probe is unanswered so far, at most. */
  readonly window: number;
  /** Hops beyond the farthest answer that are asked. */
  readonly lookahead: number;
  /** Between any two packets of the trace. */
  readonly packetGapMs: number;
  /** Between two probes of a hop that answers. */
  readonly hopGapMs: number;
  /** Between two trials, and two probes of a hop that was silent: routers answer once a second when their burst is used up. */
  readonly retryGapMs: number;
  /** A probe counts as silent after this; an answer that still comes counts. */
  readonly silentAfterMs: number;
  /** Silent hops in a row that end the trace. */
  readonly silentHops: number;
  /** A path that fell silent is listened to this long after its first silent hop was asked. */
  readonly lingerMs: number;
  /**
   * Trials of each hop at and behind the first one that left a probe unanswered: probes that distinguish
   * loss from a limit on answers.
   */
  readonly trials: number;
  /** Trials beyond these, for those that another trace's probes have spoilt. */
  readonly extraTrials: number;
  /** Tries at a hop that never did, however few the queries: one that was lost is no silence. */
  readonly silentTries: number;
}

/** One lost trial of one or two would say little. */
const LEAST_TRIALS = 3;

/** How long real traces wait (RFC 1812 section 4.3.2.8 lets routers limit their errors). */
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
 * How far ahead of the answers. The first round is one probe a router, which no limit minds; what overshoots meets the
 * target. Echo replies are not limited; "port unreachable" is, after six; SYNs to a listener are better few.
 */
const AHEAD = {
  icmp: { window: 16, lookahead: 12, packetGapMs: 2 },
  udp: { window: 6, lookahead: 5, packetGapMs: 2 },
  tcp: { window: 8, lookahead: 6, packetGapMs: 2 },
} as const;

/** The pace of a trace. */
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
