import type { Clock } from "#shared/clock.ts";
import type { Denials } from "#shared/egress.ts";
import type { LocationItem } from "#shared/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import { locationOf, type CheckAnswer, type CheckEvent, type Location } from "#control-plane/checks/answer.ts";
import type { ResultCache } from "#control-plane/checks/cache.ts";
import type { Pacer } from "#control-plane/checks/pace.ts";
import { choosePlaces, choosePlanned, type PlaceChoice, type Wishes } from "#control-plane/checks/places.ts";
import { holdToContract } from "#control-plane/checks/result-check.ts";
import { offlineRow, rowOf, type Run } from "#control-plane/checks/rows.ts";
import { summarise } from "#control-plane/checks/summary.ts";
import { decideReach, decideTarget } from "#control-plane/checks/target.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { JobAnswer } from "#control-plane/dispatch/job.ts";
import type { TargetBudget } from "#control-plane/limits/target-budget.ts";
import { targetKey } from "#control-plane/limits/target-key.ts";

/** What checks need of the app. */
export interface CheckContext {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly results: ResultCache;
  /** Of on-demand calls at one target; absent: no limit. */
  readonly budget?: TargetBudget;
  /** Of paced jobs at one target; absent: no limit. */
  readonly pacer?: Pacer;
  /** Targets whose owners want no checks. */
  readonly optOut?: Denials;
}

/** One call, whatever surface it came through. */
export interface CheckRequest {
  readonly contract: Contract;
  /** Parsed by the contract. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What this control plane adds to them, by the contract's `input`; never a caller's own words unchecked. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** A host that `input` has the agent reach besides the target. */
  readonly reaches?: string;
  /** The caller's account; null: none (open tier). */
  readonly accountId: number | null;
  /** Null: one agent of the system's choice, and the contract's own shape. */
  readonly locations: readonly LocationItem[] | null;
  /** Of what `locations` comes to only these, chosen earlier (measurements); where it is empty, another agent may be any. */
  readonly places?: readonly Location[];
  /** Most probes of one call (the plan's). */
  readonly maxLocations: number;
  /** Somebody waits for it (the default), or it is one of many that the system spreads out: monitors, batches. */
  readonly pace?: "on-demand" | "paced";
  /** Say where it would run and run nothing. */
  readonly dryRun?: boolean;
  /** A dry run that takes the target's budget all the same: for a call that is run later, at the system's pace. */
  readonly reserves?: boolean;
  readonly signal?: AbortSignal;
  /** `planned`: the probe chosen for the location, also where another took its place. */
  readonly onEvent?: (event: CheckEvent, planned: string) => void;
}

/**
 * The one path of every check: target rules, cache, choice of agents, the target's budget, dispatch, answer. Never throws
 * for a target; rejects only where the database is away, which keeps the budget.
 */
export async function runCheck(app: CheckContext, request: CheckRequest): Promise<CheckAnswer> {
  const { contract, locations } = request;
  const { rules, sharedRules } = app.hub.roster.candidates(request.accountId);
  const target = decideTarget(contract, request.params, rules, app.optOut);
  if (!target.ok) return target.refused ? { kind: "refused" } : { kind: "problem", problem: target.problem };
  const reach = request.reaches === undefined ? target : decideReach(request.reaches, rules, app.optOut);
  if (reach === null) return { kind: "refused" };

  const cached = locations === null ? app.results.get(contract, target.params, "") : undefined;
  if (cached !== undefined && request.dryRun !== true) {
    return { kind: "single", outcome: { status: "ok", data: cached.data }, location: cached.location, cached: true };
  }
  const wishes: Wishes = {
    accountId: request.accountId,
    locations,
    needs: contract.needs?.(target.params) ?? [],
    allows: (egress) => target.allows(egress) && reach.allows(egress),
  };
  const places =
    request.places === undefined
      ? choosePlaces(app.hub.roster, wishes)
      : choosePlanned(app.hub.roster, wishes, request.places);
  if (!places.ok) return places.answer;
  if (places.choices.length > request.maxLocations) {
    return { kind: "over_plan", limit: request.maxLocations, asked: places.choices.length };
  }
  const dry: CheckAnswer = {
    kind: "dry_run",
    locations: places.choices.map(({ place }) => locationOf(place)),
    offline: places.offline.map(({ location }) => location),
  };
  if (request.dryRun === true && request.reserves !== true) return dry;

  const checked = { ...request, params: target.params };
  // What the operator lists is the operator's own; the lists of private agents speak for no public target.
  const { host } = reach;
  const isExempt = host === null || !reach.isPublic || sharedRules.some((egress) => egress.lists(host));
  const counted = isExempt || isAllCached(app, checked, places.choices) ? null : targetKey(host);
  if (counted !== null && request.pace !== "paced") {
    const verdict = await app.budget?.take(counted, request.accountId === null);
    if (verdict?.ok === false) return { kind: "over_budget", retryAfterSeconds: verdict.retryAfterSeconds };
  }
  if (request.dryRun === true) return dry;
  const runs = await Promise.all(places.choices.map((choice) => runAt(app, checked, choice, counted)));
  const [first] = runs;
  if (runs.some((run) => run.answer.kind === "cancelled")) return { kind: "cancelled" };
  if (locations === null && first !== undefined) {
    const { answer, location, cached: hit } = first;
    if (answer.kind !== "outcome")
      return { kind: "unavailable", reason: "reason" in answer ? answer.reason : "no_probe" };
    return { kind: "single", outcome: answer.outcome, location, cached: hit };
  }
  const rows = [...runs.map(rowOf), ...places.offline.map(offlineRow)];
  return {
    kind: "multi",
    data: { locations: rows, summary: summarise(contract, rows) },
    refused: rows.every((row) => row.status === "failed" && row.error.code === "target_not_allowed"),
  };
}

/** Results that are at hand trouble no target. */
function isAllCached(app: CheckContext, request: CheckRequest, choices: readonly PlaceChoice[]): boolean {
  return request.contract.cacheMs !== undefined && choices.every((choice) => cachedAt(app, request, choice));
}

/** What a shared probe of the place found a moment ago. A private probe may stand in another network: it is asked. */
function cachedAt(app: CheckContext, { contract, params }: CheckRequest, { place }: PlaceChoice) {
  return isShared(app, place.probe_id) ? app.results.get(contract, params, place.region) : undefined;
}

/** Whether the operator runs the probe, not an account: what an account's own says is for that account alone. */
function isShared({ hub }: CheckContext, agentId: string): boolean {
  return hub.roster.session(agentId)?.enrolled.accountId === null;
}

/** One location's run; `counted` is the target as paced jobs are counted by it, null where they are not. */
async function runAt(
  app: CheckContext,
  request: CheckRequest,
  choice: PlaceChoice,
  counted: string | null,
): Promise<Run> {
  const { contract, params } = request;
  const planned = choice.place.probe_id;
  const onEvent = request.onEvent === undefined ? undefined : (event: CheckEvent) => request.onEvent?.(event, planned);
  const startedAt = app.clock.monotonic();
  const hit = cachedAt(app, request, choice);
  if (hit !== undefined) {
    const outcome = { status: "ok", data: hit.data } as const;
    const answer: JobAnswer = { kind: "outcome", outcome, agentId: choice.place.probe_id, attempt: 1, durationMs: 0 };
    const run: Run = { answer, location: hit.location, cached: true, durationMs: 0 };
    onEvent?.({ event: "result", data: { ...rowOf(run), attempt: 1 } });
    return run;
  }
  let { place } = choice;
  const where = (agentId: string): Location => {
    place = app.hub.roster.agent(agentId)?.place ?? place;
    return locationOf(place);
  };
  const isPaced = request.pace === "paced" && counted !== null && app.pacer !== undefined;
  const done = isPaced ? await app.pacer?.begin(counted, request.signal) : undefined;
  const location = locationOf(place);
  if (done === null) return { answer: { kind: "cancelled" }, location, cached: false, durationMs: 0 };
  const answer = await app.hub.run({
    tool: contract.name,
    params: JSON.stringify(params),
    ...(request.input === undefined ? {} : { input: JSON.stringify(request.input) }),
    accountId: request.accountId,
    deadlineMs: contract.deadlineMs(params),
    pick: choice.pick,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
    ...(onEvent === undefined
      ? {}
      : {
          onAccepted: (agentId, attempt) => onEvent({ event: "probe", data: { location: where(agentId), attempt } }),
          onProgress: (agentId, attempt, progress) =>
            onEvent({ event: "progress", data: { location: where(agentId), attempt, ...progress } }),
          onRestart: (agentId, attempt, reason) =>
            onEvent({ event: "restart", data: { location: where(agentId), attempt, reason } }),
        }),
  });
  done?.();
  const durationMs = Math.round(app.clock.monotonic() - startedAt);
  if (answer.kind !== "outcome") return { answer, location: locationOf(place), cached: false, durationMs };
  const outcome = holdToContract(contract, answer.outcome);
  const ranAt = where(answer.agentId);
  if (outcome.status === "ok" && isShared(app, answer.agentId)) {
    app.results.set(contract, params, ranAt.region, { data: outcome.data, location: ranAt });
    if (request.locations === null) app.results.set(contract, params, "", { data: outcome.data, location: ranAt });
  }
  const run: Run = { answer: { ...answer, outcome }, location: ranAt, cached: false, durationMs };
  onEvent?.({ event: "result", data: { ...rowOf(run), attempt: answer.attempt } });
  return run;
}
