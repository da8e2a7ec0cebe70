import { matches, parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { AskedPlace } from "#control-plane/watching/evidence/ask.ts";
import type { AffectedLocation } from "#control-plane/outages/incidents/incident.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";

/** Where evidence is gathered, and what is known without asking. */
interface Places {
  /** Locations that fail, the first to fail first. */
  readonly failingAt: readonly string[];
  /** Locations at which the newest check was good, the newest first. */
  readonly workingAt: readonly string[];
  /** The configured location to ask what fails there; null if there is none. */
  readonly failing: string | null;
  /** Where the target probably works: a configured location, or the region of a shared probe; null if nobody is asked. */
  readonly other: AskedPlace | null;
}

/** Reason of the fault of a target that a probe must not reach. */
const REFUSED = "target_not_allowed";

/**
 * Chooses one location that fails, and one that works or can be asked whether the target works there. The monitor's
 * request can contain secrets and change data, so only its own locations and shared probes get it: the account's own
 * probes can reach networks that its owner did not name. A target that a location refused is asked nowhere else.
 */
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
  // The locations of the monitor can have been changed since.
  const isOwn = (location: string): boolean => configured.includes(location);
  const isRefused = affected.some(({ error }) => error?.reason === REFUSED);
  return {
    failingAt,
    workingAt,
    failing: failingAt.find(isOwn) ?? configured[0] ?? null,
    other: isRefused ? null : chooseOther(workingAt.find(isOwn) ?? null, configured, candidates),
  };
}

function chooseOther(
  working: string | null,
  configured: readonly string[],
  candidates: readonly Candidate[],
): AskedPlace | null {
  if (working !== null) return { location: working, sharedOnly: false };
  const region = elsewhere(configured, candidates);
  return region === null ? null : { location: region, sharedOnly: true };
}

/**
 * Returns the region of an online shared probe that is in none of the configured locations, the least loaded. About a
 * monitor that only private probes check nobody else is asked: its name and its secrets stay with them.
 */
function elsewhere(configured: readonly string[], candidates: readonly Candidate[]): string | null {
  const items = configured.flatMap((text): readonly LocationItem[] => {
    const parsed = parseLocations([text]);
    return parsed.ok ? parsed.items : [];
  });
  const serves = (one: Candidate): boolean => items.some((item) => matches(one, item));
  const isShared = (one: Candidate): boolean => one.accountId === null;
  const serving = candidates.filter(serves);
  if (serving.length > 0 && !serving.some(isShared)) return null;
  const others = candidates.filter((one) => one.online && isShared(one) && !serves(one));
  return others.toSorted((a, b) => a.load - b.load)[0]?.region ?? null;
}
