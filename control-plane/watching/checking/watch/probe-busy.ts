import type { CheckAnswer } from "#control-plane/checks/answer.ts";

/** Reports whether a check at one location was not run only because no agent was free, so that it can be tried again. */
export function isProbeBusy(answer: CheckAnswer): boolean {
  if (answer.kind !== "multi") return false;
  const [row] = answer.data.locations;
  return row?.status === "failed" && row.error.retry_after_seconds !== undefined;
}
