import { isRecord } from "#shared/text/is-record.ts";
import type { MonitorFault, MonitorResult } from "#shared/monitor-checks/define.ts";
import { overloaded, type Outcome } from "#shared/contracts/outcome.ts";

/** A timeout tells nothing about the other side if the event loop was held up for longer than this, in milliseconds. */
const MAX_LAG_MS = 1_000;

/**
 * Decides who is to blame for a timeout: the other side, or the probe, if its event loop was held up for `lagMs`
 * milliseconds during the job. Returns the outcome to send. A monitor's check reports some timeouts in a result.
 */
export function blameOverload(outcome: Outcome<unknown>, lagMs: number): Outcome<unknown> {
  if (lagMs <= MAX_LAG_MS) return outcome;
  const timeout = outcome.status === "failed" && outcome.source !== "probe" ? outcome : faultOf(outcome);
  if (timeout?.reason !== "timeout") return outcome;
  const held = `its event loop was held up for ${(lagMs / 1_000).toFixed(1)} s`;
  const what = `${held}, so this result does not describe the target: ${timeout.message}`;
  return overloaded(timeout.stage, what, { repeatable: true });
}

/** Returns the fault in the result of a monitor's check (monitor-checks/define.ts); null if there is none. */
function faultOf(outcome: Outcome<unknown>): MonitorFault | null {
  if (outcome.status !== "ok" || !isRecord(outcome.data) || outcome.data["verdict"] !== "down") return null;
  return (outcome.data as unknown as MonitorResult).fault;
}
