import type { LocationItem } from "#shared/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import { outcomeError, type CheckAnswer, type LocationRow } from "#control-plane/checks/answer.ts";
import type { Measurements } from "#control-plane/measurements/measurements.ts";

/** A call with share=1. */
interface SharedCall {
  readonly accountId: number;
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  readonly locations: readonly LocationItem[] | null;
}

/**
 * Stores an answer as a measurement and returns its share id; null if nothing was measured: the call was refused, or
 * no probe was available.
 */
export async function shareAnswer(
  measurements: Measurements,
  { accountId, contract, params, locations: items }: SharedCall,
  answer: CheckAnswer,
  durationMs: number,
): Promise<string | null> {
  const rows = rowsOf(answer, durationMs);
  return rows === null ? null : measurements.share({ accountId, contract, params, items }, rows);
}

function rowsOf(answer: CheckAnswer, durationMs: number): readonly LocationRow[] | null {
  if (answer.kind === "multi") return answer.refused ? null : answer.data.locations;
  if (answer.kind !== "single") return null;
  const { outcome } = answer;
  const base = { location: answer.location, duration_ms: durationMs };
  if (outcome.status === "ok") return [{ ...base, status: "ok", data: outcome.data }];
  return outcome.status === "failed" ? [{ ...base, status: "failed", error: outcomeError(outcome) }] : null;
}
