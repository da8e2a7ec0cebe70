import { createAnswerLedger, type AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { addressesOf, evidenceOf, isLimited, trialsOf, type Trials } from "#probe-agent/net/icmp/trace/loss.ts";
import { countsOf, repliesOf, type Passage, type Probe } from "#probe-agent/net/icmp/trace/probe.ts";
import type { TracePace } from "#probe-agent/net/icmp/trace/pace.ts";
import type { TraceHop, TraceReply } from "#probe-agent/port/packets.ts";

/** What to do next: send a probe with this TTL in this flow (from 0), wait until then, or end. */
export type NextStep =
  | { readonly do: "send"; readonly ttl: number; readonly flow: number }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "end" };

/** A trace's memory and judgement, without any I/O. Every time is the caller's monotonic milliseconds. */
export interface TracePlan {
  next(now: number): NextStep;
  /** A probe left; numbers are the caller's and unique. */
  sent(probe: number, ttl: number, at: number): void;
  /** Its answer, once. False where the probe is unknown or was answered before. */
  answered(probe: number, reply: Omit<TraceReply, "rttMs">, passage: Passage, at: number): boolean;
  /** The first hops that will not change any more; all of the trace's when `final`. */
  hops(now: number, final: boolean): readonly TraceHop[];
  reached(): boolean;
}

interface HopView {
  readonly hop: number;
  readonly tries: number;
  readonly answers: number;
  /** Sent, unanswered, and not silent yet. */
  readonly open: number;
  readonly lastAt: number;
  /** When the oldest open probe becomes silent. */
  readonly silentAt: number;
}

// A probe that overshot is on its way to the path's end, whose round trip is known by then.
const OVERSHOT_PATIENCE_MS = 100;
const OVERSHOT_PATIENCE_RTTS = 3;

/** Begins a plan; `ledger` is what all traces of the process share. */
export function createTracePlan(pace: TracePace, ledger: AnswerLedger = createAnswerLedger()): TracePlan {
  const probes = new Map<number, Probe>();
  const byHop: Probe[][] = Array.from({ length: pace.maxHops + 1 }, () => []);
  let lastPacketAt = -Infinity;
  let farthestAnswer = pace.firstHop - 1;
  let target = Infinity;
  let wall = Infinity;
  let endRttMs = 0;
  // Where loss may begin: trials are sent from here on.
  let firstLoss = Infinity;

  // A target that answered proves that a router's refusal was not the whole truth.
  const pathEnd = (): number => (target < Infinity ? target : wall);
  /** The farthest hop that is waited for. */
  const lastHop = (): number => Math.min(pathEnd(), pace.maxHops, farthestAnswer + pace.silentHops);
  /** The farthest hop that is asked. */
  const frontier = (): number => Math.min(pathEnd(), pace.maxHops, farthestAnswer + pace.lookahead);

  /** Probes sent farther than the path's end met that end: each answer is one more of it, and spares a packet. */
  const overshot = (hop: number): readonly Probe[] =>
    hop === pathEnd() ? byHop.slice(hop + 1).flatMap((beyond) => beyond) : [];
  const ofHop = (hop: number): readonly Probe[] => [
    ...(byHop[hop] ?? []),
    ...overshot(hop).filter(({ reply, passage }) => reply !== null && passage !== "passing"),
  ];

  const view = (hop: number, now: number): HopView => {
    const sent = ofHop(hop);
    const own = sent.filter((probe) => probe.reply === null && now < probe.at + pace.silentAfterMs);
    const patience = Math.max(OVERSHOT_PATIENCE_MS, OVERSHOT_PATIENCE_RTTS * endRttMs);
    const beyond = overshot(hop).filter((probe) => probe.reply === null && now < probe.at + patience);
    return {
      hop,
      tries: sent.length,
      answers: sent.filter((probe) => probe.reply !== null).length,
      open: own.length + beyond.length,
      lastAt: byHop[hop]?.at(-1)?.at ?? -Infinity,
      silentAt: Math.min(
        (own[0]?.at ?? Infinity) + pace.silentAfterMs,
        ...beyond.slice(0, 1).map(({ at }) => at + patience),
      ),
    };
  };
  /** All that was sent to a hop or past it to the path's end, in the order it left. */
  const allOf = (hop: number): readonly Probe[] => {
    const lost = overshot(hop).filter(({ reply }) => reply === null);
    return [...ofHop(hop), ...lost].toSorted((one, other) => one.at - other.at);
  };
  const isOnTrial = ({ hop, answers }: HopView): boolean => answers > 0 && hop >= firstLoss;
  const trialsAt = (hop: number, now: number): Trials => trialsOf(ofHop(hop), ledger, now, pace.silentAfterMs);
  const needsTrials = ({ sent, valid, open }: Trials): boolean =>
    valid.length + open < pace.trials && sent < pace.trials + pace.extraTrials;
  const settled = (hop: HopView, now: number): boolean => {
    const isSilent = hop.answers === 0 && hop.open === 0 && hop.tries >= pace.silentTries;
    if (!isOnTrial(hop)) return isSilent || hop.answers >= pace.queries;
    const trials = trialsAt(hop.hop, now);
    return trials.open === 0 && !needsTrials(trials);
  };

  /** When this hop may be sent its next probe; Infinity where it waits for an answer or needs no more. */
  const readyAt = (hop: HopView, unanswered: number, now: number): number => {
    if (hop.tries === 0) return unanswered < pace.window ? -Infinity : Infinity;
    if (isOnTrial(hop)) return needsTrials(trialsAt(hop.hop, now)) ? trialAt(hop) : Infinity;
    if (hop.answers > 0) return hop.answers + hop.open < pace.queries ? hop.lastAt + pace.hopGapMs : Infinity;
    return hop.open > 0 || hop.tries >= pace.silentTries ? Infinity : hop.lastAt + pace.retryGapMs;
  };
  /** Other traces of the process take answers of the same routers. */
  const trialAt = (hop: HopView): number => {
    const sent = ofHop(hop.hop);
    if (!isLimited(sent)) return hop.lastAt + pace.hopGapMs;
    return Math.max(hop.lastAt, ledger.lastOf(addressesOf(sent))) + pace.retryGapMs;
  };
  /** Notes the first hop that answers and left a probe unanswered. */
  const noteLoss = (hop: HopView): void => {
    if (hop.answers > 0 && hop.tries - hop.answers - hop.open > 0) firstLoss = Math.min(firstLoss, hop.hop);
  };

  /** When a path that fell silent may be given up: a router that looks for a missing host says so after 3 s. */
  const givenUpAt = (): number => {
    if (pathEnd() < Infinity || farthestAnswer >= lastHop()) return -Infinity;
    return Math.min(...(byHop[farthestAnswer + 1] ?? []).map(({ at }) => at)) + pace.lingerMs;
  };

  return {
    next(now) {
      let until = Infinity;
      let unanswered = 0;
      let open = false;
      const last = lastHop();
      for (let ttl = pace.firstHop; ttl <= frontier(); ttl += 1) {
        const hop = view(ttl, now);
        noteLoss(hop);
        if (settled(hop, now)) continue;
        const waitsForAnswer = hop.answers === 0 && hop.open > 0;
        if (ttl <= last) open = true;
        else if (hop.tries > 0 || !open) {
          if (waitsForAnswer) unanswered += 1;
          continue;
        }
        const ready = Math.max(readyAt(hop, unanswered, now), lastPacketAt + pace.packetGapMs);
        if (ready <= now) return { do: "send", ttl, flow: (byHop[ttl]?.length ?? 0) % pace.flows };
        until = Math.min(until, ready, hop.silentAt);
        if (waitsForAnswer) unanswered += 1;
      }
      if (open) return { do: "wait", until };
      return now < givenUpAt() ? { do: "wait", until: givenUpAt() } : { do: "end" };
    },
    sent(number, ttl, at) {
      const isTrial = isOnTrial(view(ttl, at));
      const probe: Probe = { ttl, at, isTrial, reply: null, passage: null };
      if (isTrial) for (const ip of addressesOf(ofHop(ttl))) ledger.note(ip, at);
      probes.set(number, probe);
      byHop[ttl]?.push(probe);
      lastPacketAt = at;
    },
    answered(number, reply, passage, at) {
      const probe = probes.get(number);
      if (probe === undefined || probe.reply !== null) return false;
      probe.reply = { ...reply, rttMs: at - probe.at };
      probe.passage = passage;
      if (reply.ip !== null) ledger.note(reply.ip, probe.at);
      farthestAnswer = Math.max(farthestAnswer, probe.ttl);
      if (passage === "reached") target = Math.min(target, probe.ttl);
      if (passage === "unreachable") wall = Math.min(wall, probe.ttl);
      if (passage !== "passing") endRttMs = Math.max(endRttMs, at - probe.at);
      return true;
    },
    hops(now, final) {
      const hops: TraceHop[] = [];
      for (let hop = pace.firstHop; hop <= lastHop(); hop += 1) {
        if (final ? byHop[hop]?.length === 0 : !settled(view(hop, now), now)) break;
        const sent = allOf(hop);
        hops.push({
          hop,
          ...countsOf(sent, now, pace.silentAfterMs),
          evidence: evidenceOf(sent, trialsAt(hop, now), { ...pace, now, enough: pace.trials }),
          replies: repliesOf(sent, pace.queries),
        });
      }
      return hops;
    },
    reached: () => target < Infinity,
  };
}
