import type { Egress } from "#shared/egress.ts";
import type { HubMessage } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/dispatch/admission.ts";
import type { Candidate } from "#control-plane/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/dispatch/job.ts";
import type { Loss } from "#control-plane/dispatch/losses.ts";
import { createWaitingQueue, type WaitingQueue } from "#control-plane/dispatch/waiting.ts";

/** The wire under a session, as little of it as the hub needs. */
export interface AgentLink {
  /** Queues a message; a link that is gone swallows it, its closing is reported apart. */
  send(message: HubMessage): void;
  /** Ends the stream, after `last` where given. */
  close(last?: HubMessage): void;
}

/** One attached agent: its word on itself, its stream, and the jobs it holds. */
export interface Session {
  readonly agent: AgentInfo;
  /** What the control plane knows of it; another one after a change of the enrolment. */
  enrolled: Enrolled;
  readonly link: AgentLink;
  /** As choices see it, live. */
  readonly candidate: Candidate;
  /** Jobs given to the agent, by job id. */
  readonly running: Map<string, RunningJob>;
  /** Jobs chosen for the agent that wait for one of its credits. */
  readonly waiting: WaitingQueue<RunningJob>;
  /** Jobs it holds at once for this replica, by its last word. */
  credits: number;
  /** It declined a job as busy: nothing more until its next word on credits. */
  heldBack: boolean;
  /** Jobs it runs for other replicas, by its last beat. */
  elsewhere: number;
  draining: boolean;
  /** Monotonic milliseconds of the last message. */
  heardAt: number;
  /** Wall time of the last message, for people. */
  seenAt: Date;
  loopLagMs: number;
  /** Monotonic milliseconds of the last plea for credits, and whether one is about to go out. */
  askedAt: number;
  asking: boolean;
  /** Monotonic milliseconds of the last line of each kind on its messages. */
  readonly warnedAt: Map<string, number>;
  /** Messages that did not count: since when (monotonic milliseconds), and how many. */
  readonly dropped: { since: number; messages: number };
}

/** A new session of an agent that just said hello. */
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
    running: new Map(),
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
  };
  return Object.assign(session, { candidate: new LiveCandidate(session) });
}

type Candidacy = Omit<Session, "candidate">;

/** A class, so that hundreds of them, looked through for every job, are of one shape to the engine. */
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

/** Whether the agent may be given new jobs at all. */
export function takesJobs({ draining, enrolled }: Candidacy): boolean {
  return !draining && enrolled.enabled;
}

/**
 * Share of the agent's places in use or spoken for, on every replica; 0 and up, above 1 jobs wait. One that declined a
 * job as busy is full, whatever the figures say: a job given to it now would wait for its next word.
 */
export function loadOf({ running, waiting, elsewhere, agent, heldBack }: Candidacy): number {
  const share = (running.size + waiting.size + elsewhere) / agent.maxJobs;
  return heldBack ? Math.max(1, share) : share;
}

/** A job on its way; owned by the hub. */
export interface RunningJob {
  readonly id: string;
  readonly request: JobRequest;
  readonly accountId: number | null;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  /** Agents not to use again. */
  readonly excluded: Set<string>;
  /** Agents that declined it as busy since it last had to wait. */
  readonly busy: Set<string>;
  /** Agents it was ever given to. */
  readonly givenTo: Set<string>;
  /** From 1; rises when an agent is lost, not when one declines. */
  attempt: number;
  /** The attempt that an agent said it took; 0 where none has. */
  accepted: number;
  /** Progress that came for it, over all attempts. */
  readonly progress: { events: number; characters: number };
  /** How its agents were lost, the latest last. */
  readonly losses: Loss[];
  session: Session | null;
  timer: NodeJS.Timeout | null;
  settle(answer: JobAnswer): void;
  /** The caller is gone: listens on the request's signal until the job ends. */
  readonly onAbort: () => void;
}
