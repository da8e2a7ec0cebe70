import type { CheckFault } from "#control-plane/outages/state/state.ts";

/** What a ping says about the status of its monitor, as long as the state of the monitor does not know it. */
export interface Verdict {
  /** Number of the ping. */
  readonly number: number;
  /** When the ping arrived, Unix milliseconds. */
  readonly at: number;
  /** What failed; null: a success. */
  readonly fault: CheckFault | null;
  /** How long the run took that the ping ended, milliseconds. */
  readonly durationMs: number | null;
}

/** Maximum number of verdicts of one heartbeat: the row is written with every ping. */
const MOST = 100;

/**
 * Adds a verdict behind the others. Beyond MOST it takes the place of the last: pings that contradict each other so fast
 * are no outages of their own. The state can know the last already, so it is not enough to drop it.
 */
export function addVerdict(verdicts: readonly Verdict[], added: Verdict): readonly Verdict[] {
  return [...verdicts.slice(0, MOST - 1), added];
}

/** Returns the fault of a run that reported a failure. */
export function reportedFailure(message: string): CheckFault {
  return { stage: "request", source: "target", reason: "heartbeat_failed", message };
}

/** Returns verdicts as JSON. */
export function encodeVerdicts(verdicts: readonly Verdict[]): string {
  return JSON.stringify(
    verdicts.map(({ number, at, fault, durationMs }) => [number, at, fault?.message ?? null, durationMs]),
  );
}

type StoredVerdict = readonly [number: number, at: number, message: string | null, durationMs: number | null];

/** Reads what encodeVerdicts wrote, without the verdicts of pings up to a number, which the state knows. */
export function decodeVerdicts(text: string, judgedNumber: number): readonly Verdict[] {
  if (text === "[]") return [];
  return (JSON.parse(text) as readonly StoredVerdict[]).flatMap(([number, at, message, durationMs]) =>
    number <= judgedNumber ? [] : { number, at, fault: message === null ? null : reportedFailure(message), durationMs },
  );
}
