import type { Egress } from "#shared/internet/egress.ts";
import type { HubMessage } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import type { Loss } from "#control-plane/checks/dispatch/losses.ts";
import { createReleasingMap, type ReleasingMap } from "#control-plane/core/releasing-map.ts";

/** The stream of a session, as the hub uses it. */
export interface AgentLink {
  /** Queues a message; a closed link drops it, and its closing is reported separately. */
  send(message: HubMessage): void;
  /** Ends the stream, after `last` where given. */
  close(last?: HubMessage): void;
}

/** An attached agent: its hello, its stream and its jobs. */
export interface Session {
  readonly agent: AgentInfo;
  /** Enrolment of the agent; replaced when it changes. */
  enrolled: Enrolled;
  readonly link: AgentLink;
  /** Live view of the agent for the choice of probes. */
  readonly candidate: Candidate;
  /** Jobs sent to the agent, by job id. */
  readonly running: ReleasingMap<string, RunningJob>;
  /** Jobs that wait for a credit of the agent. */
  readonly waiting: WaitingQueue<RunningJob>;
  /** Concurrent jobs it accepts from this replica, as last reported. */
  credits: number;
  /** true: it declined a job as busy, and gets no job until its next message on credits. */
  heldBack: boolean;
  /** Jobs it runs for other replicas, as of its last beat. */
  elsewhere: number;
  draining: boolean;
  /** Time of the last message, monotonic milliseconds. */
  heardAt: number;
  /** Wall-clock time of the last message, for people. */
  seenAt: Date;
  loopLagMs: number;
  /** Time of the last request for credits, monotonic milliseconds, and whether one is scheduled. */
  askedAt: number;
  asking: boolean;
  /** Time of the last log line of each kind about its messages, monotonic milliseconds. */
  readonly warnedAt: Map<string, number>;
  /** Ignored messages: start of the window (monotonic milliseconds) and their number. */
  readonly dropped: { since: number; messages: number };
  /** Number of requests for its log, and the one without an answer. */
  readonly log: { requests: number; open: LogRequest | null };
}

/** Creates the session of an agent after its hello. */
export function openSession(
  agent: AgentInfo,
  enrolled: Enrolled,
  link: AgentLink,
  heardAt: number,
  seenAt: Date,
): Session {
  const session: Candidacy = {
    agent,
    enrolled,
    link,
    running: createReleasingMap(),
    waiting: createWaitingQueue(),
    credits: agent.credits,
    heldBack: false,
    elsewhere: 0,
    draining: false,
    heardAt,
    seenAt,
    loopLagMs: 0,
    askedAt: -Infinity,
    asking: false,
    warnedAt: new Map(),
    dropped: { since: heardAt, messages: 0 },
    log: { requests: 0, open: null },
  };
  return Object.assign(session, { candidate: new LiveCandidate(session) });
}

type Candidacy = Omit<Session, "candidate">;

/** A class, so that V8 gives all candidates one shape: every job iterates over hundreds of them. */
class LiveCandidate implements Candidate {
  readonly probe_id: string;
  readonly region: string;
  readonly country: string | null;
  readonly city: string | null;
  readonly asn: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly tags: readonly string[];
  readonly capabilities: ReadonlySet<string>;
  readonly egress: Egress;
  readonly elsewhere = false;
  readonly #session: Candidacy;

  constructor(session: Candidacy) {
    const { place, capabilities, egress } = session.agent;
    this.probe_id = place.probe_id;
    this.region = place.region;
    this.country = place.country;
    this.city = place.city;
    this.asn = place.asn;
    this.latitude = place.latitude;
    this.longitude = place.longitude;
    this.tags = place.tags;
    this.capabilities = capabilities;
    this.egress = egress;
    this.#session = session;
  }

  get accountId(): number | null {
    return this.#session.enrolled.accountId;
  }

  get online(): boolean {
    return takesJobs(this.#session);
  }

  get load(): number {
    return loadOf(this.#session);
  }
}

/** Reports whether the agent accepts new jobs. */
function takesJobs({ draining, enrolled }: Candidacy): boolean {
  return !draining && enrolled.enabled;
}

/**
 * Returns the share of the agent's job slots in use or reserved, over all replicas: from 0; above 1, jobs wait. An
 * agent that declined a job as busy counts as full: a new job would wait for its next message on credits.
 */
export function loadOf({ running, waiting, elsewhere, agent, heldBack }: Candidacy): number {
  const share = (running.size + waiting.size + elsewhere) / agent.maxJobs;
  return heldBack ? Math.max(1, share) : share;
}

/** A job without an answer yet; owned by the hub. */
export interface RunningJob {
  readonly id: string;
  readonly request: JobRequest;
  readonly accountId: number | null;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  deadlineAt: number;
  /** Agents that must not get it again. */
  readonly excluded: Set<string>;
  /** Agents that declined it as busy since it last waited. */
  readonly busy: Set<string>;
  /** All agents that ever got it. */
  readonly givenTo: Set<string>;
  /** Number of the attempt, from 1; increases when an agent is lost, not when one declines. */
  attempt: number;
  /** Attempt that an agent accepted; 0 if none. */
  accepted: number;
  /** Progress received, over all attempts. */
  readonly progress: { events: number; characters: number };
  /** Losses of its agents, the latest last. */
  readonly losses: Loss[];
  session: Session | null;
  timer: NodeJS.Timeout | null;
  settle(answer: JobAnswer): void;
  /** Listener on the request's signal, until the job ends. */
  readonly onAbort: () => void;
}

/**
 * The newest lines of an agent's log, the oldest first, or why there are none. absent: it has no stream to this replica.
 * unsupported: its version cannot send its log. silent: no complete answer within 5 s. lost: its stream ended. invalid:
 * it sent more than it may.
 */
export type LogAnswer =
  | { readonly ok: true; readonly lines: readonly string[] }
  | { readonly ok: false; readonly reason: "absent" | "unsupported" | "silent" | "lost" | "invalid" };

/** A request for the log of an agent that has no complete answer yet. */
export interface LogRequest {
  readonly id: number;
  readonly answer: Promise<LogAnswer>;
  /** Gives the answer and closes the request. */
  settle(answer: LogAnswer): void;
  /** Lines received so far, as the agent sent them. */
  readonly lines: string[];
  characters: number;
}

/** Maximum number of waiting jobs of one agent. */
export const MAX_WAITING = 10_000;
/** Maximum number of waiting jobs of one account at one agent. */
export const MAX_WAITING_PER_ACCOUNT = 1_000;

/** An element of the queue, with its account or null. `id` is unique. */
interface Waiter {
  readonly id: string;
  readonly accountId: number | null;
}

/** Bounded queue of jobs that wait for one agent's credits: accounts take turns, first in, first out within each. */
interface WaitingQueue<T extends Waiter> {
  readonly size: number;
  has(waiter: T): boolean;
  /** Appends to the account's line. Returns false if that line or the whole queue is full. */
  add(waiter: T): boolean;
  /** Returns an element to the front of its account's line, and the account to the front of the turns. Never refused. */
  putBack(waiter: T): void;
  /** Removes and returns the next element. */
  next(): T | undefined;
  remove(waiter: T): boolean;
  /** Returns all elements, account by account. */
  values(): T[];
}

/** Creates an empty queue. Every operation has constant cost. */
export function createWaitingQueue<T extends Waiter>(): WaitingQueue<T> {
  // Both in serving order: after each turn an account moves to the end of its map.
  let lines = new Map<number | null, ReleasingMap<string, T>>();
  let size = 0;
  const lineOf = (waiter: T) => lines.get(waiter.accountId);
  return {
    get size() {
      return size;
    },
    has: (waiter) => lineOf(waiter)?.has(waiter.id) ?? false,
    add(waiter) {
      const line = lineOf(waiter) ?? createReleasingMap<string, T>();
      if (size >= MAX_WAITING || line.size >= MAX_WAITING_PER_ACCOUNT || line.has(waiter.id)) return false;
      line.set(waiter.id, waiter);
      lines.set(waiter.accountId, line);
      size += 1;
      return true;
    },
    putBack(waiter) {
      const line = lineOf(waiter);
      if (line?.has(waiter.id) === true) return;
      // Rare, because agents seldom decline: the other elements are moved behind it.
      const others = Array.from(lines).filter(([accountId]) => accountId !== waiter.accountId);
      const first = createReleasingMap<string, T>();
      for (const each of [waiter, ...(line?.values() ?? [])]) first.set(each.id, each);
      lines = new Map([[waiter.accountId, first], ...others]);
      size += 1;
    },
    next() {
      const [turn] = lines;
      if (turn === undefined) return undefined;
      const [accountId, line] = turn;
      const [waiter] = line.values();
      lines.delete(accountId);
      if (waiter === undefined) return undefined;
      line.delete(waiter.id);
      size -= 1;
      if (line.size > 0) lines.set(accountId, line);
      return waiter;
    },
    remove(waiter) {
      const line = lineOf(waiter);
      if (line?.delete(waiter.id) !== true) return false;
      size -= 1;
      if (line.size === 0) lines.delete(waiter.accountId);
      return true;
    },
    values: () => Array.from(lines.values()).flatMap((line) => [...line.values()]),
  };
}
