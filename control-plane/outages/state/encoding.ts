import type {
  CheckFault,
  DatedLocation,
  SilencedNotice,
  LocationState,
  MonitorState,
  NoData,
} from "#control-plane/outages/state/state.ts";

/** A fault as stored: stage, source, reason, message. */
type StoredFault = readonly [stage: string, source: string, reason: string, message: string];

/** A soft state as stored. */
type StoredSoftState = readonly [failed: number, since: number, fault: StoredFault | null];

/** A location as stored. What is missing at the end is not there. */
type StoredLocation = readonly [
  location: string,
  verdict: "up" | "down",
  at: number,
  streak: number,
  since: number,
  fault?: StoredFault | null,
  softState?: StoredSoftState,
];

/**
 * Returns a state as JSON. What has its usual value is left out; NEW_STATE is `{}`. Stored fields keep the names that
 * earlier releases gave them.
 */
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
    flapping_told: unless(null, state.flappingNotifiedAt),
    failing: state.failing.length === 0 ? undefined : state.failing,
    unsteady: state.unsteady.length === 0 ? undefined : state.unsteady,
    remind: unless(null, state.remindAt),
    held: state.silenced === null ? undefined : encodeSilenced(state.silenced),
    incident: unless(null, state.incidentId),
    locations: state.locations.size === 0 ? undefined : Array.from(state.locations, encodeLocation),
    blind: state.offline.length === 0 ? undefined : state.offline.map(encodeDated),
    alone: state.sole === null ? undefined : encodeDated(state.sole),
    unwatched: state.noData === null ? undefined : [state.noData.since, state.noData.isNotified ? 1 : 0],
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
    flappingNotifiedAt: readNumber(stored["flapping_told"]),
    failing: readList(stored["failing"]).filter((location) => typeof location === "string"),
    unsteady: readList(stored["unsteady"]).filter((location) => typeof location === "string"),
    remindAt: readNumber(stored["remind"]),
    silenced: readSilenced(stored["held"]),
    incidentId: readNumber(stored["incident"]),
    locations: readLocations(stored["locations"]),
    offline: readList(stored["blind"]).flatMap((one) => readDated(one) ?? []),
    sole: readDated(stored["alone"]),
    noData: readNoData(stored["unwatched"]),
  };
}

function encodeLocation([location, known]: readonly [string, LocationState]): StoredLocation {
  const { verdict, at, streak, since, fault, softState } = known;
  if (softState !== undefined) {
    const soft = [softState.failed, softState.since, encodeFault(softState.fault)] as const;
    return [location, verdict, at, streak, since, encodeFault(fault), soft];
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
    const [location, word, at, streak, since, fault, soft] = readList(item);
    const verdict = readVerdict(word);
    if (typeof location !== "string" || verdict === null) continue;
    if (typeof at !== "number" || typeof streak !== "number" || typeof since !== "number") continue;
    locations.set(location, { verdict, at, streak, since, fault: readFault(fault), ...readSoftState(soft) });
  }
  return locations;
}

function readSoftState(stored: unknown): Pick<LocationState, "softState"> {
  const [failed, since, fault] = readList(stored);
  if (typeof failed !== "number" || typeof since !== "number") return {};
  return { softState: { failed, since, fault: readFault(fault) } };
}

function encodeDated({ location, at }: DatedLocation): readonly [location: string, at: number] {
  return [location, at];
}

function readDated(stored: unknown): DatedLocation | null {
  const [location, at] = readList(stored);
  return typeof location === "string" && typeof at === "number" ? { location, at } : null;
}

function readNoData(stored: unknown): NoData | null {
  const [since, isNotified] = readList(stored);
  return typeof since === "number" ? { since, isNotified: isNotified === 1 } : null;
}

function readFault(stored: unknown): CheckFault | null {
  const texts = readList(stored);
  if (texts.length < 4 || !texts.every((text) => typeof text === "string")) return null;
  const [stage, source, reason, message] = texts as unknown as StoredFault;
  return { stage: stage as CheckFault["stage"], source: source as CheckFault["source"], reason, message };
}

function encodeSilenced(silenced: SilencedNotice): readonly [reason: string, previous: string, at: number | null] {
  return [silenced.reason, silenced.previous, silenced.reason === "undecided" ? silenced.silencedAt : silenced.endedAt];
}

function readSilenced(stored: unknown): SilencedNotice | null {
  const [reason, word, time] = readList(stored);
  const previous = word === "unknown" ? "unknown" : "up";
  const at = readNumber(time);
  if (reason === "undecided") return { reason, previous, silencedAt: at ?? 0 };
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
