import type { LocationItem } from "#shared/internet/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import { type CheckAnswer, outcomeError, type LocationRow } from "#control-plane/checks/answer.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";

/** A call with share=1. */
interface SharedCall {
  readonly accountId: number;
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  readonly locations: readonly LocationItem[] | null;
}

/**
 * Stores an answer as a measurement and returns its share id; null if nothing was measured: the call was refused, or
 * no probe was available. `durationMs`: what a check by one probe has taken.
 */
export async function shareAnswer(
  measurements: Pick<Measurements, "share">,
  { accountId, contract, params, locations: items }: SharedCall,
  checked: CheckAnswer,
  durationMs: number,
): Promise<string | null> {
  const rows = rowsOf(checked, durationMs);
  return rows === null ? null : measurements.share({ accountId, contract, params, items }, rows);
}

function rowsOf(checked: CheckAnswer, durationMs: number): readonly LocationRow[] | null {
  if (checked.kind === "multi") return checked.refused ? null : checked.data.locations;
  if (checked.kind !== "single") return null;
  const { outcome } = checked;
  const base = { location: checked.location, duration_ms: durationMs };
  if (outcome.status === "ok") return [{ ...base, status: "ok", data: outcome.data }];
  return outcome.status === "failed" ? [{ ...base, status: "failed", error: outcomeError(outcome) }] : null;
}
