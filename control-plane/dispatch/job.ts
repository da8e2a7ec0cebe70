import type { Outcome } from "#shared/outcome.ts";
import type { Session } from "#control-plane/dispatch/session.ts";

/** A piece of live progress from the agent that holds the job now. */
export interface JobProgress {
  readonly kind: string;
  readonly data: unknown;
}

/** What the hub is asked to get done. */
export interface JobRequest {
  readonly tool: string;
  /** Parsed parameters as JSON. */
  readonly params: string;
  /** Milliseconds from now. */
  readonly deadlineMs: number;
  /** The agent to use next, given those that were lost or declined; null when none is left. */
  pick(excluded: ReadonlySet<string>): string | null;
  readonly signal?: AbortSignal;
  /** An agent took the job. */
  onAccepted?(agentId: string, attempt: number): void;
  onProgress?(agentId: string, attempt: number, progress: JobProgress): void;
  /** The agent was lost; `attempt` is the coming one. */
  onRestart?(agentId: string, attempt: number, reason: string): void;
}

/** How a job ended. */
export type JobAnswer =
  | {
      readonly kind: "outcome";
      readonly outcome: Outcome<unknown>;
      readonly agentId: string;
      readonly attempt: number;
      readonly durationMs: number;
    }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "cancelled" };

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
