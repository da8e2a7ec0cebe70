import { parseLocations } from "#shared/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckAnswer, CheckError, CheckEvent, Location, LocationRow } from "#control-plane/checks/answer.ts";
import { unavailableError } from "#control-plane/checks/answer.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { isDatabaseAway } from "#control-plane/database/away.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { JobVerdict } from "#control-plane/jobs/pull.ts";
import { createJournal } from "#control-plane/measurements/journal.ts";
import { recordEvents } from "#control-plane/measurements/journal/store.ts";
import type { MeasurementMetrics } from "#control-plane/measurements/metrics.ts";
import {
  claimMeasurement,
  finishMeasurement,
  postponeMeasurement,
  readAttempts,
  readLocations,
  type StoredLocation,
  type StoredMeasurement,
} from "#control-plane/measurements/store.ts";
import { isFinal, storeRow } from "#control-plane/measurements/view.ts";
import type { Watch } from "#control-plane/measurements/watch.ts";

/** What runs stand on. */
export interface RunDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly contracts: ReadonlyMap<string, Contract>;
  readonly watch: Watch;
  readonly metrics: MeasurementMetrics;
}

/**
 * For so long a location whose probe is not to be had here is left to another replica, or to a probe that comes back
 * (after a restart of ours all are back within 20 s); then it has failed.
 */
const GIVE_UP_MS = 30_000;

/**
 * Takes a measurement up, at whatever point the last run left it: only locations without a result are run. What the run
 * writes counts as long as no other has taken the measurement over, and each location's result is written once.
 */
export async function runMeasurement(deps: RunDeps, id: string, stop: AbortSignal): Promise<JobVerdict> {
  try {
    const taken = await claimMeasurement(deps.sql, id, deps.checks.clock.now());
    return taken === null ? "done" : await runClaimed(deps, taken, stop);
  } catch (error) {
    if (isDatabaseAway(error)) return "later";
    throw error;
  }
}

async function runClaimed(deps: RunDeps, taken: StoredMeasurement, stop: AbortSignal): Promise<JobVerdict> {
  const { sql, checks, metrics } = deps;
  const { clock } = checks;
  const pending = (await readLocations(sql, taken.id)).filter((location) => location.status === null);
  const before = taken.run === 1 ? new Map<number, number>() : await readAttempts(sql, taken.id);
  if (taken.run === 1) metrics.lag.observe(Math.max(0, clock.now().getTime() - taken.createdAt.getTime()) / 1_000);

  const over = new AbortController();
  const unwatch = deps.watch.watch(taken.id, (state) => {
    if (state === null || isFinal(state.status) || state.run !== taken.run) over.abort();
  });
  const journal = createJournal({
    write: (events, after, dropped) => recordEvents(sql, taken, events, after, dropped),
    after: taken.events,
    signal: stop,
    onLost: () => over.abort(),
  });
  const placed = pending.map((stored) => ({ ...stored, place: JSON.parse(stored.location) as Location }));
  const tell = (event: string, ordinal: number, data: object) =>
    journal.add({ event, ordinal, data: JSON.stringify(data), result: null });
  const tellResult = (ordinal: number, row: LocationRow, attempt: number) =>
    journal.add({ event: "result", ordinal, data: JSON.stringify({ attempt }), result: storeRow(row) });

  const resumed = new Set<number>();
  const ordinals = new Map(placed.map(({ ordinal, place }) => [place.probe_id, ordinal]));
  const onEvent = (event: CheckEvent, planned: string): void => {
    const ordinal = ordinals.get(planned);
    if (ordinal === undefined) return;
    const earlier = before.get(ordinal) ?? 0;
    const attempt = earlier + event.data.attempt;
    if (earlier > 0 && !resumed.has(ordinal)) {
      resumed.add(ordinal);
      tell("restart", ordinal, { location: event.data.location, attempt, reason: "replica_lost" });
    }
    if (event.event === "result") tellResult(ordinal, event.data, attempt);
    else tell(event.event, ordinal, { ...event.data, attempt });
  };
  const answer = await askAgents(deps, taken, placed, {
    signal: AbortSignal.any([stop, over.signal]),
    onEvent,
    onProgressDropped: () => journal.drop(),
  });

  const open = placed.flatMap((stored, index) => {
    const error = unansweredError(answer, index);
    return error === null ? [] : [{ ...stored, error }];
  });
  const { waitingSince } = taken;
  const givesUp = waitingSince !== null && clock.now().getTime() >= waitingSince.getTime() + GIVE_UP_MS;
  if (givesUp && !stop.aborted) {
    for (const { ordinal, place, error } of open) {
      const row: LocationRow = { location: place, duration_ms: 0, status: "failed", error };
      tellResult(ordinal, row, Math.max(1, before.get(ordinal) ?? 0));
    }
  }
  const ours = await journal.settle();
  unwatch();
  if (!ours && stop.aborted) return "later";
  if (!ours || over.signal.aborted) return "done";
  if (open.length > 0 && (!givesUp || stop.aborted)) {
    if (!stop.aborted) await postponeMeasurement(sql, taken, clock.now());
    return "later";
  }
  const status = await finishMeasurement(sql, taken, clock.now());
  if (status !== null) metrics.ended.inc({ status });
  return "done";
}

/** Runs the check at the locations that have no result yet. */
async function askAgents(
  { checks, contracts }: RunDeps,
  taken: StoredMeasurement,
  placed: readonly (StoredLocation & { readonly place: Location })[],
  listeners: Pick<CheckRequest, "signal" | "onEvent" | "onProgressDropped">,
): Promise<CheckAnswer> {
  const contract = contracts.get(taken.tool);
  // An older replica's tool, or a newer one's: left to those that have it.
  if (contract === undefined) return { kind: "unavailable", reason: "no_probe" };
  if (placed.length === 0) return { kind: "multi", data: { locations: [], summary: {} }, refused: false };
  const items = taken.expression === null ? null : parseLocations(JSON.parse(taken.expression) as string[]);
  return runCheck(checks, {
    contract,
    params: JSON.parse(taken.params) as Record<string, unknown>,
    accountId: taken.accountId,
    locations: items?.ok === true ? items.items : [],
    places: placed.map(({ place }) => place),
    maxLocations: placed.length,
    // The target's budget was taken when it was asked for.
    pace: "paced",
    ...listeners,
  });
}

/** Why a location has no result of its own yet; null where it has one. */
function unansweredError(answer: CheckAnswer, index: number): CheckError | null {
  switch (answer.kind) {
    case "multi": {
      const row = answer.data.locations[index];
      return row?.status === "failed" && row.error.code === "probe_unavailable" ? row.error : null;
    }
    // When it was asked for the target was allowed: the agents that allow it are attached elsewhere, or no longer.
    case "refused":
      return unavailableError("no_probe");
    case "unavailable":
      return unavailableError(answer.reason);
    default:
      return unavailableError("busy");
  }
}
