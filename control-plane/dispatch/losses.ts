/** Why an agent's stream counts no more. */
export type LossReason = "closed" | "silent" | "replaced" | "revoked" | "stopped" | "flood";

/** How an agent was lost that held a job. */
export interface Loss {
  readonly reason: LossReason;
  /** It had said that it took the job. */
  readonly accepted: boolean;
  /** It was shutting down. */
  readonly draining: boolean;
}

/** A job is tried on at most so many agents. */
const MAX_ATTEMPTS = 3;
/** A job that was running on so many agents when they failed is given to no other. */
const MAX_SUSPECT_LOSSES = 2;

/**
 * What becomes of a job after its losses, the latest last: `again`, another agent gets it; `exhausted`, it was tried
 * often enough; `suspect`, it may be what makes agents fail.
 *
 * A loss points at the job only where the agent ran it and then crashed (the stream closed), hung (the stream fell
 * silent) or sent more than this control plane takes (flood). Nothing points at the job where the agent had not accepted
 * it, was shutting down, dialed again, was revoked by the operator, or was let go by this control plane.
 */
export function afterLosses(losses: readonly Loss[]): "again" | "exhausted" | "suspect" {
  if (losses.filter(pointsAtJob).length >= MAX_SUSPECT_LOSSES) return "suspect";
  return losses.length >= MAX_ATTEMPTS ? "exhausted" : "again";
}

function pointsAtJob({ reason, accepted, draining }: Loss): boolean {
  return accepted && !draining && (reason === "closed" || reason === "silent" || reason === "flood");
}
