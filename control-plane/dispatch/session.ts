import type { HubMessage } from "#shared/protocol/probe.ts";
import type { Enrolled } from "#control-plane/dispatch/admission.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { JobAnswer, JobRequest } from "#control-plane/dispatch/job.ts";

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
  /** Jobs given to the agent, by job id. */
  readonly running: Map<string, RunningJob>;
  /** Jobs chosen for the agent that wait for one of its credits, oldest first. */
  readonly waiting: Set<RunningJob>;
  credits: number;
  draining: boolean;
  /** Monotonic milliseconds of the last message. */
  heardAt: number;
  /** Wall time of the last message, for people. */
  seenAt: Date;
  loopLagMs: number;
}

/** A new session of an agent that just said hello. */
export function openSession(
  agent: AgentInfo,
  enrolled: Enrolled,
  link: AgentLink,
  heardAt: number,
  seenAt: Date,
): Session {
  return {
    agent,
    enrolled,
    link,
    running: new Map(),
    waiting: new Set(),
    credits: agent.credits,
    draining: false,
    heardAt,
    seenAt,
    loopLagMs: 0,
  };
}

/** Share of the credits in use or spoken for, 0 and up; above 1 jobs wait. */
export function loadOf(session: Session): number {
  return (session.running.size + session.waiting.size) / session.credits;
}

/** A job on its way; owned by the hub. */
export interface RunningJob {
  readonly id: string;
  readonly request: JobRequest;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  /** Agents not to use again. */
  readonly excluded: Set<string>;
  /** From 1; rises when an agent is lost, not when one declines. */
  attempt: number;
  session: Session | null;
  timer: NodeJS.Timeout | null;
  settle(answer: JobAnswer): void;
  /** The caller is gone: listens on the request's signal until the job ends. */
  readonly onAbort: () => void;
}
