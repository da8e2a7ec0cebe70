import type { Confirmation } from "#control-plane/outages/state/confirmation.ts";
import type { FreshLocation } from "#control-plane/outages/state/freshness.ts";
import type { Observation } from "#control-plane/outages/state/observation.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { Status } from "#control-plane/outages/state/state.ts";

/** The votes of the fresh locations. A location whose newest verdict is not confirmed votes for neither. */
export interface Votes {
  /** Number of fresh locations. */
  readonly fresh: number;
  readonly down: readonly FreshLocation[];
  readonly up: readonly FreshLocation[];
}

/** Several configured locations: fewer fresh ones than this are no evidence. */
const MIN_FRESH = 2;

/** Counts the votes. */
export function castVotes(fresh: readonly FreshLocation[], { failures, successes }: Confirmation): Votes {
  return {
    fresh: fresh.length,
    down: fresh.filter(({ known }) => known.verdict === "down" && known.streak >= failures),
    up: fresh.filter(({ known }) => known.verdict === "up" && known.streak >= successes),
  };
}

/** Reports whether `down` of `fresh` locations are enough for an outage. */
export function meetsQuorum({ quorum }: Pick<StateSettings, "quorum">, down: number, fresh: number): boolean {
  if (fresh === 0) return false;
  return quorum === "majority" ? 2 * down > fresh : down >= Math.min(quorum, fresh);
}

/** Reports whether so many fresh locations are evidence: one of several is only if no other can check. */
export function isEnough({ locations }: Pick<StateSettings, "locations">, fresh: number, isAlone: boolean): boolean {
  return fresh >= (isAlone ? 1 : Math.min(MIN_FRESH, locations.length));
}

/**
 * Decides the status. Without enough fresh locations it is unknown.
 * A quorum of failures is an outage; otherwise a strict majority of successes is up; otherwise, for example if the votes
 * are even, the status stays as it was.
 */
export function decideStatus(
  settings: Pick<StateSettings, "locations" | "quorum">,
  before: Status,
  { fresh, down, up }: Votes,
  isAlone: boolean,
): Status {
  if (!isEnough(settings, fresh, isAlone)) return "unknown";
  if (meetsQuorum(settings, down.length, fresh)) return "down";
  return 2 * up.length > fresh ? "up" : before;
}

/** Without a history nothing can be confirmed. */
const UNCONFIRMED: Confirmation = { failures: 1, successes: 1 };

/**
 * Decides the status of a monitor that has no history by one check from each location. If one of several alone says
 * something about the target, that counts (`isAlone`): there will be no other.
 */
export function decideAtOnce(
  settings: Pick<StateSettings, "locations" | "quorum">,
  checks: readonly Pick<Observation, "location" | "verdict" | "beganAt" | "fault">[],
): { readonly status: Status; readonly isAlone: boolean } {
  const fresh = checks.flatMap(({ location, verdict, beganAt: at, fault }) =>
    verdict === "unknown" ? [] : [{ location, known: { verdict, at, since: at, streak: 1, fault } }],
  );
  const isAlone = fresh.length === 1 && settings.locations.length > 1;
  return { status: decideStatus(settings, "unknown", castVotes(fresh, UNCONFIRMED), isAlone), isAlone };
}
