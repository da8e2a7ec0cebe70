import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Artifact } from "#control-plane/checks/dispatch/artifacts.ts";

/** A progress event of the agent that runs the job. */
interface JobProgress {
  readonly kind: string;
  readonly data: unknown;
}

/** A job for the hub. */
export interface JobRequest {
  readonly tool: string;
  /** Parsed parameters as JSON. */
  readonly params: string;
  /** Input that the control plane adds (contract.input), as JSON. */
  readonly input?: string;
  /** true: the agent may send a file with its result; otherwise its chunks are dropped. */
  readonly wantsArtifact?: boolean;
  /** Account of the caller, for a fair share of agents; null: no account. */
  readonly accountId: number | null;
  /** Time limit from now, milliseconds. */
  readonly deadlineMs: number;
  /**
   * How long the job may wait for a free agent, milliseconds. Its time limit then counts from when it is sent. Absent:
   * waiting counts against the time limit.
   */
  readonly waitMs?: number;
  /** Returns the agent to use next, without those that were lost or declined; null if none is left. */
  pick(excluded: ReadonlySet<string>): string | null;
  readonly signal?: AbortSignal;
  /** Called when the job is sent to an agent. Before that, it can wait for a free one. */
  onSent?(): void;
  /** Called when an agent accepts the job. */
  onAccepted?(agentId: string, attempt: number): void;
  onProgress?(agentId: string, attempt: number, progress: JobProgress): void;
  /** Called when a progress event is dropped. */
  onProgressDropped?(): void;
  /** Called when the agent was lost; `attempt` is the next one. */
  onRestart?(agentId: string, attempt: number, reason: string): void;
}

/** Result of a job. */
export type JobAnswer =
  | {
      readonly kind: "outcome";
      readonly outcome: Outcome<unknown>;
      /** The file that came with the result, if the request wants one. */
      readonly artifact?: Artifact;
      readonly agentId: string;
      readonly attempt: number;
      readonly durationMs: number;
    }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "cancelled" };
