import { matches, parseLocations, type LocationItem } from "#shared/locations.ts";
import type { Candidate } from "#control-plane/dispatch/choose.ts";
import type { AffectedLocation } from "#control-plane/incidents/incident.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";

/** Where evidence is gathered, and what is known without asking. */
interface Places {
  /** Locations that fail, the first to fail first. */
  readonly failingAt: readonly string[];
  /** Configured locations at which the newest check was good, the newest first. */
  readonly workingAt: readonly string[];
  /** The one of them to ask; null: there is none. */
  readonly failing: string | null;
  /** Where the target probably works: a configured location, or the region of another probe; null: there is none. */
  readonly other: string | null;
}

/** Chooses one location that fails, and one that works or can be asked whether the target works there. */
export function choosePlaces(
  affected: readonly AffectedLocation[],
  state: MonitorState,
  configured: readonly string[],
  candidates: readonly Candidate[],
): Places {
  const failingAt = affected.filter(({ status }) => status === "down").map(({ location }) => location);
  const workingAt = Array.from(state.locations, ([location, known]) => ({ location, ...known }))
    .filter(({ location, verdict }) => verdict === "up" && !failingAt.includes(location))
    .toSorted((a, b) => b.at - a.at)
    .map(({ location }) => location);
  return {
    failingAt,
    workingAt,
    failing: failingAt[0] ?? configured[0] ?? null,
    other: workingAt[0] ?? elsewhere(configured, candidates),
  };
}

/**
 * Returns the region of an online probe that is in none of the configured locations, the least loaded. A monitor that
 * only private probes check is asked from private ones only: its name and its secrets stay with them.
 */
function elsewhere(configured: readonly string[], candidates: readonly Candidate[]): string | null {
  const items = configured.flatMap((text): readonly LocationItem[] => {
    const parsed = parseLocations([text]);
    return parsed.ok ? parsed.items : [];
  });
  const serves = (one: Candidate): boolean => items.some((item) => matches(one, item));
  const isPrivate = (one: Candidate): boolean => one.accountId !== null;
  const serving = candidates.filter(serves);
  const isKeptPrivate = serving.length > 0 && serving.every(isPrivate);
  const others = candidates.filter((one) => one.online && !serves(one) && (!isKeptPrivate || isPrivate(one)));
  return others.toSorted((a, b) => a.load - b.load)[0]?.region ?? null;
}
