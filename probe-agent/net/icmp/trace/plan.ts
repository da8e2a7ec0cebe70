import { createAnswerLedger, type AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { evidenceOf, addressesOf, isLimited, trialsOf, type Trials } from "#probe-agent/net/icmp/trace/loss.ts";
import type { TraceTiming } from "#probe-agent/net/icmp/trace/trace-timing.ts";
import { countsOf, repliesOf } from "#probe-agent/net/icmp/trace/probe.ts";
import {
  allProbesOf,
  createTraceProgress,
  frontier,
  lastHop,
  pathEnd,
  recordAnswer,
  recordProbe,
  type ProbeAnswer,
  type TraceProgress,
  overshot,
  probesOf,
} from "#probe-agent/net/icmp/trace/progress.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";

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
  answered(probe: number, answer: ProbeAnswer): boolean;
  /** Returns the first hops whose results are final. With `final`, returns all hops of the trace. */
  hops(now: number, final: boolean): readonly TraceHop[];
  reached(): boolean;
}

/** State of one hop at one moment. Times are monotonic milliseconds. */
interface HopState {
  readonly hop: number;
  readonly tries: number;
  readonly answers: number;
  /** Probes that were sent, have no answer and do not count as silent so far. */
  readonly open: number;
  readonly lastAt: number;
  /** Time at which the oldest open probe becomes silent. */
  readonly silentAt: number;
}

// A probe that overshot is on its way to the end of the path, whose round trip is known by then.
const OVERSHOT_PATIENCE_MS = 100;
const OVERSHOT_PATIENCE_RTTS = 3;

/** Creates the plan of one trace. All traces of the process share `ledger`. */
export function createTracePlan(timing: TraceTiming, ledger: AnswerLedger = createAnswerLedger()): TracePlan {
  const progress = createTraceProgress(timing, ledger);
  return {
    next: (now) => nextStep(progress, now),
    sent(number, ttl, at) {
      recordProbe(progress, number, { ttl, at, isTrial: isOnTrial(progress, hopStateAt(progress, ttl, at)) });
    },
    answered: (number, answer) => recordAnswer(progress, number, answer),
    hops: (now, final) => hopsOf(progress, now, final),
    reached: () => progress.target < Infinity,
  };
}

function nextStep(progress: TraceProgress, now: number): NextStep {
  const { timing } = progress;
  let until = Infinity;
  let unanswered = 0;
  let open = false;
  const last = lastHop(progress);
  const farthest = frontier(progress);
  for (let ttl = timing.firstHop; ttl <= farthest; ttl += 1) {
    const state = hopStateAt(progress, ttl, now);
    noteLoss(progress, state);
    if (isSettled(progress, state, now)) continue;
    const waitsForAnswer = state.answers === 0 && state.open > 0;
    if (ttl <= last) open = true;
    else if (state.tries > 0 || !open) {
      if (waitsForAnswer) unanswered += 1;
      continue;
    }
    const ready = Math.max(readyAt(progress, state, unanswered, now), progress.lastPacketAt + timing.packetGapMs);
    if (ready <= now) return { do: "send", ttl, flow: (progress.byHop[ttl]?.length ?? 0) % timing.flows };
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
  const { timing, byHop, farthestAnswer } = progress;
  if (pathEnd(progress) < Infinity || farthestAnswer >= lastHop(progress)) return -Infinity;
  return Math.min(...(byHop[farthestAnswer + 1] ?? []).map(({ at }) => at)) + timing.lingerMs;
}

function hopsOf(progress: TraceProgress, now: number, final: boolean): readonly TraceHop[] {
  const { timing, byHop } = progress;
  const last = lastHop(progress);
  const hops: TraceHop[] = [];
  for (let hop = timing.firstHop; hop <= last; hop += 1) {
    if (final ? byHop[hop]?.length === 0 : !isSettled(progress, hopStateAt(progress, hop, now), now)) break;
    const sent = allProbesOf(progress, hop);
    hops.push({
      hop,
      ...countsOf(sent, now, timing.silentAfterMs),
      evidence: evidenceOf(sent, trialsAt(progress, hop, now), { ...timing, now, enough: timing.trials }),
      replies: repliesOf(sent, timing.queries),
    });
  }
  return hops;
}

/** Returns the state of a hop at `now`. */
export function hopStateAt(progress: TraceProgress, hop: number, now: number): HopState {
  const { timing, endRttMs } = progress;
  const sent = probesOf(progress, hop);
  const own = sent.filter((probe) => probe.reply === null && now < probe.at + timing.silentAfterMs);
  const patience = Math.max(OVERSHOT_PATIENCE_MS, OVERSHOT_PATIENCE_RTTS * endRttMs);
  const beyond = overshot(progress, hop).filter((probe) => probe.reply === null && now < probe.at + patience);
  return {
    hop,
    tries: sent.length,
    answers: sent.filter((probe) => probe.reply !== null).length,
    open: own.length + beyond.length,
    lastAt: progress.byHop[hop]?.at(-1)?.at ?? -Infinity,
    silentAt: Math.min(
      (own[0]?.at ?? Infinity) + timing.silentAfterMs,
      ...beyond.slice(0, 1).map(({ at }) => at + patience),
    ),
  };
}

/** Reports whether further probes of this hop are trials: it answers, and it is at the first loss or behind it. */
function isOnTrial({ firstLoss }: TraceProgress, { hop, answers }: HopState): boolean {
  return answers > 0 && hop >= firstLoss;
}

/** Returns the trials of a hop at `now`. */
function trialsAt(progress: TraceProgress, hop: number, now: number): Trials {
  return trialsOf(probesOf(progress, hop), progress.ledger, now, progress.timing.silentAfterMs);
}

/** Reports whether a hop needs another trial. */
export function needsTrial(
  { sent, valid, open }: Trials,
  timing: Pick<TraceTiming, "trials" | "extraTrials">,
): boolean {
  return valid.length + open < timing.trials && sent < timing.trials + timing.extraTrials;
}

/** Reports whether a hop needs no more probes and no more time. */
export function isSettled(progress: TraceProgress, state: HopState, now: number): boolean {
  const { timing } = progress;
  const isSilent = state.answers === 0 && state.open === 0 && state.tries >= timing.silentTries;
  if (!isOnTrial(progress, state)) return isSilent || state.answers >= timing.queries;
  const trials = trialsAt(progress, state.hop, now);
  return trials.open === 0 && !needsTrial(trials, timing);
}

/**
 * Returns when a hop can get its next probe. Infinity while it waits for an answer or needs no more probes.
 * `unanswered` counts the nearer hops whose first probe has no answer so far.
 */
export function readyAt(progress: TraceProgress, state: HopState, unanswered: number, now: number): number {
  const { timing } = progress;
  const { hop, tries, answers, open, lastAt } = state;
  if (tries === 0) return unanswered < timing.window ? -Infinity : Infinity;
  if (isOnTrial(progress, state)) {
    return needsTrial(trialsAt(progress, hop, now), timing) ? trialReadyAt(progress, state) : Infinity;
  }
  if (answers > 0) return answers + open < timing.queries ? lastAt + timing.hopGapMs : Infinity;
  return open > 0 || tries >= timing.silentTries ? Infinity : lastAt + timing.retryGapMs;
}

/** Returns when a hop can get its next trial. Other traces of the process use up answers of the same routers. */
function trialReadyAt(progress: TraceProgress, { hop, lastAt }: HopState): number {
  const { timing, ledger } = progress;
  const sent = probesOf(progress, hop);
  if (!isLimited(sent)) return lastAt + timing.hopGapMs;
  return Math.max(lastAt, ledger.lastOf(addressesOf(sent))) + timing.retryGapMs;
}
