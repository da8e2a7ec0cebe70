import { createAnswerLedger, type AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import {
  hopStateAt,
  isOnTrial,
  isSettled,
  readyAt,
  trialsAt,
  type HopState,
} from "#probe-agent/net/icmp/trace/hop-state.ts";
import { evidenceOf } from "#probe-agent/net/icmp/trace/loss.ts";
import type { TracePace } from "#probe-agent/net/icmp/trace/pace.ts";
import { countsOf, repliesOf, type Passage } from "#probe-agent/net/icmp/trace/probe.ts";
import {
  allProbesOf,
  createTraceProgress,
  frontier,
  lastHop,
  pathEnd,
  recordAnswer,
  recordProbe,
  type TraceProgress,
} from "#probe-agent/net/icmp/trace/progress.ts";
import type { TraceHop, TraceReply } from "#probe-agent/port/packets.ts";

/** Next step: send a probe with this TTL in this flow (from 0), wait until a time, or end. */
type NextStep =
  | { readonly do: "send"; readonly ttl: number; readonly flow: number }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "end" };

/** Decides the steps of a trace, without any I/O. All times are the caller's monotonic milliseconds. */
interface TracePlan {
  next(now: number): NextStep;
  /** Records a probe that left. The caller assigns a unique number to each probe. */
  sent(probe: number, ttl: number, at: number): void;
  /** Records the answer to a probe. Returns false if the probe is unknown or already answered. */
  answered(probe: number, reply: Omit<TraceReply, "rttMs">, passage: Passage, at: number): boolean;
  /** Returns the first hops whose results are final. With `final`, returns all hops of the trace. */
  hops(now: number, final: boolean): readonly TraceHop[];
  reached(): boolean;
}

/** Creates the plan of one trace. All traces of the process share `ledger`. */
export function createTracePlan(pace: TracePace, ledger: AnswerLedger = createAnswerLedger()): TracePlan {
  const progress = createTraceProgress(pace, ledger);
  return {
    next: (now) => nextStep(progress, now),
    sent(number, ttl, at) {
      recordProbe(progress, number, { ttl, at, isTrial: isOnTrial(progress, hopStateAt(progress, ttl, at)) });
    },
    answered: (number, reply, passage, at) => recordAnswer(progress, number, { reply, passage, at }),
    hops: (now, final) => hopsOf(progress, now, final),
    reached: () => progress.target < Infinity,
  };
}

function nextStep(progress: TraceProgress, now: number): NextStep {
  const { pace } = progress;
  let until = Infinity;
  let unanswered = 0;
  let open = false;
  const last = lastHop(progress);
  const farthest = frontier(progress);
  for (let ttl = pace.firstHop; ttl <= farthest; ttl += 1) {
    const state = hopStateAt(progress, ttl, now);
    noteLoss(progress, state);
    if (isSettled(progress, state, now)) continue;
    const waitsForAnswer = state.answers === 0 && state.open > 0;
    if (ttl <= last) open = true;
    else if (state.tries > 0 || !open) {
      if (waitsForAnswer) unanswered += 1;
      continue;
    }
    const ready = Math.max(readyAt(progress, state, unanswered, now), progress.lastPacketAt + pace.packetGapMs);
    if (ready <= now) return { do: "send", ttl, flow: (progress.byHop[ttl]?.length ?? 0) % pace.flows };
    until = Math.min(until, ready, state.silentAt);
    if (waitsForAnswer) unanswered += 1;
  }
  if (open) return { do: "wait", until };
  const givenUpAt = silentPathEndsAt(progress);
  return now < givenUpAt ? { do: "wait", until: givenUpAt } : { do: "end" };
}

/** Records the first hop that answered one probe and left another unanswered. */
function noteLoss(progress: TraceProgress, { hop, tries, answers, open }: HopState): void {
  if (answers > 0 && tries - answers - open > 0) progress.firstLoss = Math.min(progress.firstLoss, hop);
}

/**
 * Returns when to give up a path that became silent. A router that searches for a missing host reports it after 3 s.
 */
function silentPathEndsAt(progress: TraceProgress): number {
  const { pace, byHop, farthestAnswer } = progress;
  if (pathEnd(progress) < Infinity || farthestAnswer >= lastHop(progress)) return -Infinity;
  return Math.min(...(byHop[farthestAnswer + 1] ?? []).map(({ at }) => at)) + pace.lingerMs;
}

function hopsOf(progress: TraceProgress, now: number, final: boolean): readonly TraceHop[] {
  const { pace, byHop } = progress;
  const last = lastHop(progress);
  const hops: TraceHop[] = [];
  for (let hop = pace.firstHop; hop <= last; hop += 1) {
    if (final ? byHop[hop]?.length === 0 : !isSettled(progress, hopStateAt(progress, hop, now), now)) break;
    const sent = allProbesOf(progress, hop);
    hops.push({
      hop,
      ...countsOf(sent, now, pace.silentAfterMs),
      evidence: evidenceOf(sent, trialsAt(progress, hop, now), { ...pace, now, enough: pace.trials }),
      replies: repliesOf(sent, pace.queries),
    });
  }
  return hops;
}
