import type { Source, Stage } from "#shared/contracts/outcome.ts";

/** Why a check failed. */
export interface CheckFault {
  readonly stage: Stage;
  readonly source: Source;
  /** A stable snake_case word. */
  readonly reason: string;
  /** For people; one line without control characters. A state keeps the first 200 of them. */
  readonly message: string;
}

/** What one check at one location found. */
export interface Observation {
  /** One of the configured locations. */
  readonly location: string;
  /**
   * unknown: the probe or its network failed, or no probe was available. With a fault of the target: it answered, but with
   * nothing that can be judged.
   */
  readonly verdict: "up" | "down" | "unknown";
  /** Unix milliseconds of the beginning of the check. */
  readonly beganAt: number;
  readonly responseMs: number | null;
  /** null if the verdict is up. */
  readonly fault: CheckFault | null;
  /** An extra check that confirms an outage or a recovery. */
  readonly isRecheck: boolean;
}
