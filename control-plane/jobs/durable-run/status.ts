/** pending until a replica claims the run; completed, failed and cancelled are final. */
export type RunStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

/** Whether a run in this status never changes again. */
export function isFinal(status: RunStatus): boolean {
  return status !== "pending" && status !== "running";
}
