import type { Outcome } from "#shared/outcome.ts";

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
  /** JSON of what the control plane adds to them (contract.input). */
  readonly input?: string;
  /** On whose behalf, for a fair share of scarce agents; null: nobody's in particular. */
  readonly accountId: number | null;
  /** Milliseconds from now. */
  readonly deadlineMs: number;
  /** The agent to use next, given those that were lost or declined; null when none is left. */
  pick(excluded: ReadonlySet<string>): string | null;
  readonly signal?: AbortSignal;
  /** An agent took the job. */
  onAccepted?(agentId: string, attempt: number): void;
  onProgress?(agentId: string, attempt: number, progress: JobProgress): void;
  /** An agent sent progress that does not count. */
  onProgressDropped?(): void;
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
