/** Reason why an agent's stream ended. */
export type LossReason = "closed" | "silent" | "replaced" | "revoked" | "stopped" | "flood";

/** Loss of an agent that had a job. */
export interface Loss {
  readonly reason: LossReason;
  /** Whether it had accepted the job. */
  readonly accepted: boolean;
  /** It was shutting down. */
  readonly draining: boolean;
}

/** Maximum number of attempts of a job. */
const MAX_ATTEMPTS = 3;
/** Number of agents that failed while they ran a job after which it is not dispatched again. */
const MAX_SUSPECT_LOSSES = 2;

/**
 * Decides about a job after its losses, the latest last. `again`: dispatch it to another agent; `exhausted`: it had its
 * last attempt; `suspect`: the job itself can be the cause of the failures.
 *
 * A loss indicates that the job is the cause only if the agent ran it and crashed (stream closed), hung (stream went
 * silent) or exceeded its message limits (flood). It does not if the agent had not accepted
 * the job, was shutting down, reconnected, was revoked, or was disconnected by this control plane.
 */
export function afterLosses(losses: readonly Loss[]): "again" | "exhausted" | "suspect" {
  if (losses.filter(suggestsJob).length >= MAX_SUSPECT_LOSSES) return "suspect";
  return losses.length >= MAX_ATTEMPTS ? "exhausted" : "again";
}

function suggestsJob({ reason, accepted, draining }: Loss): boolean {
  return accepted && !draining && (reason === "closed" || reason === "silent" || reason === "flood");
}
