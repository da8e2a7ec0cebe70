import type { TraceHop, TraceReply } from "#probe-agent/net/port/packets.ts";

/** What bounds a trace; times in milliseconds. */
export interface TracePace {
  readonly maxHops: number;
  readonly queries: number;
  /** Hops whose first probe is unanswered so far, at most. */
  readonly window: number;
  /** Between any two packets of the trace. */
  readonly packetGapMs: number;
  /** Between two probes of a hop that answers. */
  readonly hopGapMs: number;
  /** Between two probes of a hop that was silent: routers answer once a second when their burst is used up. */
  readonly retryGapMs: number;
  /** A probe counts as silent after this; an answer that still comes counts. */
  readonly silentAfterMs: number;
  /** Silent hops in a row that end the trace. */
  readonly silentHops: number;
  /** Tries beyond `queries` at a hop that answered some; tries at a hop that never did. */
  readonly extraTries: number;
  readonly silentTries: number;
}

/** The pace of real traces (decisions 5; RFC 1812 section 4.3.2.8 lets routers limit their errors). */
export const TRACE_PACE = {
  window: 4,
  packetGapMs: 10,
  hopGapMs: 50,
  retryGapMs: 1_050,
  silentAfterMs: 1_000,
  silentHops: 5,
  extraTries: 4,
  silentTries: 3,
} as const;

/** What an answer means for the path: a router on it, the target, or a router that refuses to go on. */
export type Passage = "passing" | "reached" | "unreachable";

/** What to do next: send a probe with this TTL, wait until then, or end. */
export type NextStep =
  | { readonly do: "send"; readonly ttl: number }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "end" };

/** A trace's memory and judgement, without any I/O. Every time is the caller's monotonic milliseconds. */
export interface TracePlan {
  next(now: number): NextStep;
  /** A probe left; numbers are the caller's and unique. */
  sent(probe: number, ttl: number, at: number): void;
  /** Its answer, once. False where the probe is unknown or was answered before. */
  answered(probe: number, reply: Omit<TraceReply, "rttMs">, passage: Passage, at: number): boolean;
  /** The first `n` hops that will not change any more; all of the trace's when `final`. */
  hops(now: number, final: boolean): readonly TraceHop[];
  reached(): boolean;
}

interface Probe {
  readonly ttl: number;
  readonly at: number;
  reply: TraceReply | null;
}

interface HopView {
  readonly tries: number;
  readonly answers: number;
  /** Sent, unanswered, and not silent yet. */
  readonly open: number;
  readonly lastAt: number;
  /** When the oldest open probe becomes silent. */
  readonly silentAt: number;
}

/** Begins a plan. */
export function createTracePlan(pace: TracePace): TracePlan {
  const probes = new Map<number, Probe>();
  const byHop: Probe[][] = Array.from({ length: pace.maxHops + 1 }, () => []);
  let lastPacketAt = -Infinity;
  let farthestAnswer = 0;
  let target = Infinity;
  let wall = Infinity;

  const view = (hop: number, now: number): HopView => {
    const sent = byHop[hop] ?? [];
    const open = sent.filter((probe) => probe.reply === null && now < probe.at + pace.silentAfterMs);
    return {
      tries: sent.length,
      answers: sent.filter((probe) => probe.reply !== null).length,
      open: open.length,
      lastAt: sent.at(-1)?.at ?? -Infinity,
      silentAt: (open[0]?.at ?? Infinity) + pace.silentAfterMs,
    };
  };
  const mostTries = ({ answers }: HopView): number =>
    answers > 0 ? pace.queries + pace.extraTries : Math.max(2, Math.min(pace.queries, pace.silentTries));
  const settled = (hop: HopView): boolean =>
    hop.answers >= pace.queries || (hop.open === 0 && hop.tries >= mostTries(hop));
  // A target that answered proves that a router's refusal was not the whole truth.
  const pathEnd = (): number => (target < Infinity ? target : wall);
  const lastHop = (): number => Math.min(pathEnd(), pace.maxHops, farthestAnswer + pace.silentHops);

  /** When this hop may be sent its next probe; Infinity where it waits for an answer or needs no more. */
  const readyAt = (hop: HopView, unanswered: number): number => {
    if (hop.tries === 0) return unanswered < pace.window ? -Infinity : Infinity;
    if (hop.answers + hop.open >= pace.queries || hop.tries >= mostTries(hop)) return Infinity;
    if (hop.answers === 0 && hop.open > 0) return Infinity;
    const silent = hop.tries - hop.answers - hop.open > 0;
    return hop.lastAt + (silent ? pace.retryGapMs : pace.hopGapMs);
  };

  return {
    next(now) {
      let until = Infinity;
      let unanswered = 0;
      let open = false;
      for (let ttl = 1; ttl <= lastHop(); ttl += 1) {
        const hop = view(ttl, now);
        if (settled(hop)) continue;
        open = true;
        const ready = Math.max(readyAt(hop, unanswered), lastPacketAt + pace.packetGapMs);
        if (ready <= now) return { do: "send", ttl };
        until = Math.min(until, ready, hop.silentAt);
        if (hop.answers === 0 && hop.open > 0) unanswered += 1;
      }
      return open ? { do: "wait", until } : { do: "end" };
    },
    sent(number, ttl, at) {
      const probe = { ttl, at, reply: null };
      probes.set(number, probe);
      byHop[ttl]?.push(probe);
      lastPacketAt = at;
    },
    answered(number, reply, passage, at) {
      const probe = probes.get(number);
      if (probe === undefined || probe.reply !== null) return false;
      probe.reply = { ...reply, rttMs: at - probe.at };
      farthestAnswer = Math.max(farthestAnswer, probe.ttl);
      if (passage === "reached") target = Math.min(target, probe.ttl);
      if (passage === "unreachable") wall = Math.min(wall, probe.ttl);
      return true;
    },
    hops(now, final) {
      const hops: TraceHop[] = [];
      for (let hop = 1; hop <= lastHop(); hop += 1) {
        const sent = byHop[hop] ?? [];
        if (final ? sent.length === 0 : !settled(view(hop, now))) break;
        hops.push({ hop, replies: repliesOf(sent, pace.queries) });
      }
      return hops;
    },
    reached: () => target < Infinity,
  };
}

/** As many replies as queries were asked for: the answers in order, then silence. */
function repliesOf(sent: readonly Probe[], queries: number): readonly TraceReply[] {
  const answers = sent.flatMap((probe) => probe.reply ?? []).slice(0, queries);
  const silence = { ip: null, rttMs: null, icmpType: null, icmpCode: null };
  return [...answers, ...Array.from({ length: queries - answers.length }, () => silence)];
}
