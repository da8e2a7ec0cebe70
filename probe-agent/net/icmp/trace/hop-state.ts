import { addressesOf, isLimited, trialsOf, type Trials } from "#probe-agent/net/icmp/trace/loss.ts";
import type { TracePace } from "#probe-agent/net/icmp/trace/pace.ts";
import { overshot, probesOf, type TraceProgress } from "#probe-agent/net/icmp/trace/progress.ts";

/** State of one hop at one moment. Times are monotonic milliseconds. */
export interface HopState {
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

/** Returns the state of a hop at `now`. */
export function hopStateAt(progress: TraceProgress, hop: number, now: number): HopState {
  const { pace, endRttMs } = progress;
  const sent = probesOf(progress, hop);
  const own = sent.filter((probe) => probe.reply === null && now < probe.at + pace.silentAfterMs);
  const patience = Math.max(OVERSHOT_PATIENCE_MS, OVERSHOT_PATIENCE_RTTS * endRttMs);
  const beyond = overshot(progress, hop).filter((probe) => probe.reply === null && now < probe.at + patience);
  return {
    hop,
    tries: sent.length,
    answers: sent.filter((probe) => probe.reply !== null).length,
    open: own.length + beyond.length,
    lastAt: progress.byHop[hop]?.at(-1)?.at ?? -Infinity,
    silentAt: Math.min(
      (own[0]?.at ?? Infinity) + pace.silentAfterMs,
      ...beyond.slice(0, 1).map(({ at }) => at + patience),
    ),
  };
}

/** Reports whether further probes of this hop are trials: it answers, and it is at the first loss or behind it. */
export function isOnTrial({ firstLoss }: TraceProgress, { hop, answers }: HopState): boolean {
  return answers > 0 && hop >= firstLoss;
}

/** Returns the trials of a hop at `now`. */
export function trialsAt(progress: TraceProgress, hop: number, now: number): Trials {
  return trialsOf(probesOf(progress, hop), progress.ledger, now, progress.pace.silentAfterMs);
}

/** Reports whether a hop needs another trial. */
export function needsTrial({ sent, valid, open }: Trials, pace: Pick<TracePace, "trials" | "extraTrials">): boolean {
  return valid.length + open < pace.trials && sent < pace.trials + pace.extraTrials;
}

/** Reports whether a hop needs no more probes and no more time. */
export function isSettled(progress: TraceProgress, state: HopState, now: number): boolean {
  const { pace } = progress;
  const isSilent = state.answers === 0 && state.open === 0 && state.tries >= pace.silentTries;
  if (!isOnTrial(progress, state)) return isSilent || state.answers >= pace.queries;
  const trials = trialsAt(progress, state.hop, now);
  return trials.open === 0 && !needsTrial(trials, pace);
}

/**
 * Returns when a hop can get its next probe. Infinity while it waits for an answer or needs no more probes.
 * `unanswered` counts the nearer hops whose first probe has no answer so far.
 */
export function readyAt(progress: TraceProgress, state: HopState, unanswered: number, now: number): number {
  const { pace } = progress;
  const { hop, tries, answers, open, lastAt } = state;
  if (tries === 0) return unanswered < pace.window ? -Infinity : Infinity;
  if (isOnTrial(progress, state)) {
    return needsTrial(trialsAt(progress, hop, now), pace) ? trialReadyAt(progress, state) : Infinity;
  }
  if (answers > 0) return answers + open < pace.queries ? lastAt + pace.hopGapMs : Infinity;
  return open > 0 || tries >= pace.silentTries ? Infinity : lastAt + pace.retryGapMs;
}

/** Returns when a hop can get its next trial. Other traces of the process use up answers of the same routers. */
function trialReadyAt(progress: TraceProgress, { hop, lastAt }: HopState): number {
  const { pace, ledger } = progress;
  const sent = probesOf(progress, hop);
  if (!isLimited(sent)) return lastAt + pace.hopGapMs;
  return Math.max(lastAt, ledger.lastOf(addressesOf(sent))) + pace.retryGapMs;
}
