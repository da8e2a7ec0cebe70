import type {
  CheckFault,
  DatedLocation,
  HeldNotice,
  LocationState,
  MonitorState,
  Unwatched,
} from "#control-plane/outages/state/state.ts";

/** A fault as stored: stage, source, reason, message. */
type StoredFault = readonly [stage: string, source: string, reason: string, message: string];

/** First tries as stored. */
type StoredTries = readonly [failed: number, since: number, fault: StoredFault | null];

/** A location as stored. What is missing at the end is not there. */
type StoredLocation = readonly [
  location: string,
  verdict: "up" | "down",
  at: number,
  streak: number,
  since: number,
  fault?: StoredFault | null,
  firstTries?: StoredTries,
];

/** Returns a state as JSON. What has its usual value is left out; NEW_STATE is `{}`. */
export function encodeState(state: MonitorState): string {
  return JSON.stringify({
    status: unless("unknown", state.status),
    // The newest known status differs from the status only while that is unknown.
    known: state.status === "unknown" ? unless(null, state.lastKnown) : undefined,
    changed: unless(null, state.changedAt),
    since: unless(null, state.knownSince),
    failed: unless(null, state.failedAt),
    degraded: unless(false, state.isDegraded),
    degraded_reported: unless(false, state.isDegradedReported),
    slow: unless(0, state.slowStreak),
    changes: state.changes.length === 0 ? undefined : state.changes,
    flapping: unless(false, state.isFlapping),
    flapping_told: unless(null, state.flappingToldAt),
    failing: state.failing.length === 0 ? undefined : state.failing,
    unsteady: state.unsteady.length === 0 ? undefined : state.unsteady,
    remind: unless(null, state.remindAt),
    held: state.held === null ? undefined : encodeHeld(state.held),
    incident: unless(null, state.incidentId),
    locations: state.locations.size === 0 ? undefined : Array.from(state.locations, encodeLocation),
    blind: state.blind.length === 0 ? undefined : state.blind.map(encodeDated),
    alone: state.alone === null ? undefined : encodeDated(state.alone),
    unwatched: state.unwatched === null ? undefined : [state.unwatched.since, state.unwatched.isTold ? 1 : 0],
  });
}

/**
 * Reads what encodeState wrote. Fields and items that a newer release added are ignored, values that this release does
 * not know become the usual ones. Throws a SyntaxError if the text is no JSON.
 */
export function decodeState(text: string): MonitorState {
  const stored = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const status = readVerdict(stored["status"]) ?? "unknown";
  return {
    status,
    lastKnown: status === "unknown" ? readVerdict(stored["known"]) : status,
    changedAt: readNumber(stored["changed"]),
    knownSince: readNumber(stored["since"]),
    failedAt: readNumber(stored["failed"]),
    isDegraded: stored["degraded"] === true,
    isDegradedReported: stored["degraded_reported"] === true,
    slowStreak: readNumber(stored["slow"]) ?? 0,
    changes: readList(stored["changes"]).filter((at) => typeof at === "number"),
    isFlapping: stored["flapping"] === true,
    flappingToldAt: readNumber(stored["flapping_told"]),
    failing: readList(stored["failing"]).filter((location) => typeof location === "string"),
    unsteady: readList(stored["unsteady"]).filter((location) => typeof location === "string"),
    remindAt: readNumber(stored["remind"]),
    held: readHeld(stored["held"]),
    incidentId: readNumber(stored["incident"]),
    locations: readLocations(stored["locations"]),
    blind: readList(stored["blind"]).flatMap((one) => readDated(one) ?? []),
    alone: readDated(stored["alone"]),
    unwatched: readUnwatched(stored["unwatched"]),
  };
}

function encodeLocation([location, known]: readonly [string, LocationState]): StoredLocation {
  const { verdict, at, streak, since, fault, firstTries } = known;
  if (firstTries !== undefined) {
    const tries = [firstTries.failed, firstTries.since, encodeFault(firstTries.fault)] as const;
    return [location, verdict, at, streak, since, encodeFault(fault), tries];
  }
  return fault === null
    ? [location, verdict, at, streak, since]
    : [location, verdict, at, streak, since, encodeFault(fault)];
}

function encodeFault(fault: CheckFault | null): StoredFault | null {
  return fault === null ? null : [fault.stage, fault.source, fault.reason, fault.message];
}

function readLocations(stored: unknown): ReadonlyMap<string, LocationState> {
  const locations = new Map<string, LocationState>();
  for (const item of readList(stored)) {
    const [location, word, at, streak, since, fault, tries] = readList(item);
    const verdict = readVerdict(word);
    if (typeof location !== "string" || verdict === null) continue;
    if (typeof at !== "number" || typeof streak !== "number" || typeof since !== "number") continue;
    locations.set(location, { verdict, at, streak, since, fault: readFault(fault), ...readTries(tries) });
  }
  return locations;
}

function readTries(stored: unknown): Pick<LocationState, "firstTries"> {
  const [failed, since, fault] = readList(stored);
  if (typeof failed !== "number" || typeof since !== "number") return {};
  return { firstTries: { failed, since, fault: readFault(fault) } };
}

function encodeDated({ location, at }: DatedLocation): readonly [location: string, at: number] {
  return [location, at];
}

function readDated(stored: unknown): DatedLocation | null {
  const [location, at] = readList(stored);
  return typeof location === "string" && typeof at === "number" ? { location, at } : null;
}

function readUnwatched(stored: unknown): Unwatched | null {
  const [since, isTold] = readList(stored);
  return typeof since === "number" ? { since, isTold: isTold === 1 } : null;
}

function readFault(stored: unknown): CheckFault | null {
  const words = readList(stored);
  if (words.length < 4 || !words.every((word) => typeof word === "string")) return null;
  const [stage, source, reason, message] = words as unknown as StoredFault;
  return { stage: stage as CheckFault["stage"], source: source as CheckFault["source"], reason, message };
}

function encodeHeld(held: HeldNotice): readonly [reason: string, previous: string, at: number | null] {
  return [held.reason, held.previous, held.reason === "undecided" ? held.heldAt : held.endedAt];
}

function readHeld(stored: unknown): HeldNotice | null {
  const [reason, word, time] = readList(stored);
  const previous = word === "unknown" ? "unknown" : "up";
  const at = readNumber(time);
  if (reason === "undecided") return { reason, previous, heldAt: at ?? 0 };
  return reason === "maintenance" || reason === "dependency" ? { reason, previous, endedAt: at } : null;
}

function readVerdict(stored: unknown): "up" | "down" | null {
  return stored === "up" || stored === "down" ? stored : null;
}

function readNumber(stored: unknown): number | null {
  return typeof stored === "number" ? stored : null;
}

function readList(stored: unknown): readonly unknown[] {
  return Array.isArray(stored) ? stored : [];
}

/** Returns undefined, which JSON leaves out, in place of the usual value. */
function unless<T>(usual: T, value: T): T | undefined {
  return value === usual ? undefined : value;
}
