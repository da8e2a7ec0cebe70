import type { Egress } from "#shared/internet/egress.ts";
import type { HubMessage } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import type { Loss } from "#control-plane/checks/dispatch/losses.ts";
import { createWaitingQueue, type WaitingQueue } from "#control-plane/checks/dispatch/waiting.ts";
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
