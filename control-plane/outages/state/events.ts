import type { CheckFault } from "#control-plane/outages/state/observation.ts";

/** A location that fails, with its newest fault. */
export interface FailingLocation {
  readonly location: string;
  readonly fault: CheckFault | null;
  /** Unix milliseconds of the first failing check of the streak. */
  readonly since: number;
  /** Present: it is the only one of several locations that can check. */
  readonly isAlone?: true;
}

/** What a transition changed. Times are Unix milliseconds. `at` is the time of the transition. */
export type StateEvent =
  /**
   * The outage is confirmed. `isNotice`: the last known status was not down, so this is the beginning of an outage and
   * not the return of a known one after a time without observations.
   */
  | {
      readonly kind: "down";
      readonly at: number;
      /** The first failing check of the outage. */
      readonly startedAt: number;
      readonly previous: "up" | "unknown";
      readonly isNotice: boolean;
      /** Every location that fails, those not yet confirmed included. */
      readonly failing: readonly FailingLocation[];
    }
  /** Up again, or known for the first time. `isNotice`: the last known status was down. */
  | {
      readonly kind: "up";
      readonly at: number;
      /** The first good check of the recovery. */
      readonly recoveredAt: number;
      readonly previous: "down" | "unknown";
      readonly isNotice: boolean;
    }
  /** Too little is fresh to know the status. `silent`: the locations without a fresh verdict. */
  | {
      readonly kind: "unknown";
      readonly at: number;
      readonly previous: "up" | "down";
      readonly silent: readonly string[];
    }
  /** Other locations fail than before, while the monitor stays down. */
  | { readonly kind: "failing"; readonly at: number; readonly failing: readonly FailingLocation[] }
  /** `responseMs` is that of the newest check; null: it is not slow, but its first tries fail each time. */
  | { readonly kind: "degraded"; readonly at: number; readonly responseMs: number | null }
  /** No longer degraded, while up. */
  | { readonly kind: "recovered_speed"; readonly at: number }
  | { readonly kind: "flapping"; readonly at: number; readonly isFlapping: boolean }
  /** People are to be notified that it begins to be flapping, still is, or no longer is. */
  | { readonly kind: "flapping_notice"; readonly at: number; readonly phase: "begins" | "lasts" | "ends" }
  /** Some locations keep failing while the monitor is up; an empty list ends it. `isNew`: none did before. */
  | {
      readonly kind: "advisory";
      readonly at: number;
      readonly failing: readonly FailingLocation[];
      readonly isNew: boolean;
    }
  /**
   * Planned checks of some locations fail each time and pass on the re-check, while the monitor is up; an empty list ends
   * it. `since` is the beginning of the first of them. `isNew`: those of no location did before.
   */
  | {
      readonly kind: "first_tries";
      readonly at: number;
      readonly failing: readonly FailingLocation[];
      readonly isNew: boolean;
    }
  /** The outage lasts, and a reminder is due. */
  | { readonly kind: "reminder"; readonly at: number }
  /** It has lacked results since `since`, and people are to be notified. `silent`: the locations without a fresh verdict. */
  | { readonly kind: "unwatched"; readonly at: number; readonly since: number; readonly silent: readonly string[] }
  /** It has results again, after people were notified that it lacked them since `since`. */
  | { readonly kind: "watched"; readonly at: number; readonly since: number };
