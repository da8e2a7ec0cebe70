import { outcomeError, unavailableError, type CheckAnswer, type CheckError } from "#control-plane/checks/answer.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";

/** Answer of the probes for one unit, or the reason why no probe could check it. */
type UnitAnswer =
  | { readonly isAnswered: true; readonly status: "ok"; readonly data: unknown }
  | { readonly isAnswered: true; readonly status: "failed"; readonly error: CheckError }
  | { readonly isAnswered: false; readonly error: CheckError };

/** A call of `runCheck` without its pace; null if this replica cannot make it but another replica can. */
export type UnitCall = Omit<CheckRequest, "pace"> | null;

/** Checks one unit with one call, paced as background work. */
export async function askProbe(checks: CheckContext, call: UnitCall): Promise<UnitAnswer> {
  return readUnitAnswer(await callProbes(checks, call), 0);
}

/** Checks `count` units with one call over several locations. Returns one answer for each unit, in their order. */
export async function askProbes(checks: CheckContext, call: UnitCall, count: number): Promise<readonly UnitAnswer[]> {
  const answer = await callProbes(checks, call);
  return Array.from({ length: count }, (_, index) => readUnitAnswer(answer, index));
}

async function callProbes(checks: CheckContext, call: UnitCall): Promise<CheckAnswer> {
  return call === null ? { kind: "unavailable", reason: "no_probe" } : runCheck(checks, { ...call, pace: "paced" });
}

/** Returns the part of an answer that belongs to the unit at `index`. */
export function readUnitAnswer(answer: CheckAnswer, index: number): UnitAnswer {
  switch (answer.kind) {
    case "single": {
      const { outcome } = answer;
      return outcome.status === "ok"
        ? { isAnswered: true, status: "ok", data: outcome.data }
        : { isAnswered: true, status: "failed", error: outcomeError(outcome) };
    }
    case "multi": {
      const row = answer.data.locations[index];
      if (row === undefined) return unanswered("no_probe");
      if (row.status === "ok") return { isAnswered: true, status: "ok", data: row.data };
      if (row.error.code === "probe_unavailable") return { isAnswered: false, error: row.error };
      return { isAnswered: true, status: "failed", error: row.error };
    }
    // The target was allowed when the run was accepted: agents that allow it are attached to other replicas or gone.
    case "refused":
      return unanswered("no_probe");
    case "unavailable":
      return unanswered(answer.reason);
    default:
      return unanswered("busy");
  }
}

function unanswered(reason: string): UnitAnswer {
  return { isAnswered: false, error: unavailableError(reason) };
}
