/** Status of a run: pending until a replica claims it, then running. completed, failed and cancelled are final. */
export type RunStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

/** Reports whether a run in this status never changes again. */
export function isFinal(status: RunStatus): boolean {
  return status !== "pending" && status !== "running";
}
