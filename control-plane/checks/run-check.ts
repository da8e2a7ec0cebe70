import { asSubmitted } from "#control-plane/checks/as-submitted.ts";
import {
  locationOf,
  type CheckAnswer,
  type CheckEvent,
  type Location,
  outcomeError,
  unavailableError,
  type CheckError,
  type LocationRow,
} from "#control-plane/checks/answer.ts";
import { cachedAt, isShared } from "#control-plane/checks/cached-results.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import { decideCall, type Decision } from "#control-plane/checks/decide-call.ts";
import type { PlaceChoice, OfflinePlace } from "#control-plane/checks/places.ts";
import { summarise } from "#control-plane/checks/summary.ts";
import type { JobAnswer, JobRequest } from "#control-plane/checks/dispatch/job.ts";
import { Compile, type Validator } from "typebox/compile";
import { failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { Contract } from "#shared/tools/define.ts";
import { isRecord } from "#shared/text/is-record.ts";

/**
 * Runs a check, for every surface: decision, input of the job, dispatch, answer. It never throws because of a
 * target; it rejects only if the database, which holds the budget, is not available.
 */
export async function runCheck(app: CheckContext, asked: CheckRequest): Promise<CheckAnswer> {
  const startedAt = app.clock.monotonic();
  const decision = await decideCall(app, asked);
  return decision.go ? runDecided(app, asked, decision, startedAt) : decision.answer;
}

/** There is no room for another paced job at the target. The caller tries again after this time, milliseconds. */
interface Postponed {
  readonly kind: "postponed";
  readonly retryAfterMs: number;
}

/** Runs a paced check like runCheck if there is room at its target now; does not wait for room. */
export async function tryCheck(app: CheckContext, asked: CheckRequest): Promise<CheckAnswer | Postponed> {
  const startedAt = app.clock.monotonic();
  const decision = await decideCall(app, { ...asked, pace: "paced" });
  if (!decision.go) return decision.answer;
  const turn = decision.counted === null ? undefined : app.pacer?.tryBegin(decision.counted);
  if (turn?.kind === "postponed") return turn;
  try {
    return await runDecided(app, asked, { ...decision, counted: null }, startedAt);
  } finally {
    turn?.done();
  }
}

/** Runs a call for which agents were chosen. `startedAt` is in monotonic milliseconds. */
async function runDecided(
  app: CheckContext,
  asked: CheckRequest,
  decision: Extract<Decision, { go: true }>,
  startedAt: number,
): Promise<CheckAnswer> {
  const { choices, offline, counted } = decision;
  const request = await withInput(app, decision.request);
  const { contract, locations } = request;
  // Gathering input counts against the deadline of the tool.
  const spent = request.input === undefined ? 0 : app.clock.monotonic() - startedAt;
  const whole = Math.min(contract.deadlineMs(request.params), request.deadlineMs ?? Infinity);
  const deadlineMs = Math.max(1, Math.floor(whole - spent));
  const runs = await Promise.all(
    choices.map((choice) => runAt(app, request, choice, { counted, deadlineMs, submitted: asked.params })),
  );
  const [first] = runs;
  if (runs.some((run) => run.answer.kind === "cancelled")) return { kind: "cancelled" };
  if (locations === null && first !== undefined) {
    const { answer, location, cached } = first;
    if (answer.kind !== "outcome")
      return { kind: "unavailable", reason: "reason" in answer ? answer.reason : "no_probe" };
    return { kind: "single", outcome: answer.outcome, location, cached };
  }
  const rows = [...runs.map(rowOf), ...offline.map(offlineRow)];
  return {
    kind: "multi",
    data: { locations: rows, summary: summarise(contract, rows) },
    refused: rows.every((row) => row.status === "failed" && row.error.code === "target_not_allowed"),
  };
}

/** Adds the input that this control plane gathers for the tool, if any. */
async function withInput(app: CheckContext, request: CheckRequest): Promise<CheckRequest> {
  const { contract, params, accountId, signal } = request;
  const gather = app.inputs?.gatherers.get(contract.name);
  if (gather === undefined || request.input !== undefined) return request;
  const input = await gather({
    contract,
    params,
    accountId,
    askElsewhere: (question) => runCheck(app, { ...question, accountId, ...(signal === undefined ? {} : { signal }) }),
  });
  return { ...request, input };
}

/** Values that all runs of a call share. */
interface Asked {
  /** Key under which paced jobs of the target are counted; null: not counted. */
  readonly counted: string | null;
  readonly deadlineMs: number;
  /** Parameters as the caller gave them. */
  readonly submitted: CheckRequest["params"];
}

/** Runs the check at one location. */
async function runAt(
  app: CheckContext,
  request: CheckRequest,
  choice: PlaceChoice,
  { counted, deadlineMs, submitted }: Asked,
): Promise<Run> {
  const { contract, params } = request;
  const planned = choice.place.probe_id;
  const onEvent = request.onEvent === undefined ? undefined : (event: CheckEvent) => request.onEvent?.(event, planned);
  const startedAt = app.clock.monotonic();
  const hit = cachedAt(app, request, choice);
  if (hit !== undefined) {
    const outcome = { status: "ok", data: asSubmitted(contract, submitted, hit.data) } as const;
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
  const ask = { app, request, onEvent, where };
  const answer = await askAgents(ask, choice.pick, deadlineMs);
  done?.();
  const durationMs = Math.round(app.clock.monotonic() - startedAt);
  if (answer.kind !== "outcome") return { answer, location: locationOf(place), cached: false, durationMs };
  const outcome = enforceContract(contract, answer.outcome);
  if (outcome.status === "ok" && isShared(app, answer.agentId)) observe(app, request, outcome.data);
  const ranAt = where(answer.agentId);
  if (outcome.status === "ok" && isShared(app, answer.agentId)) {
    app.results.set(contract, params, ranAt.region, { data: outcome.data, location: ranAt });
    if (request.locations === null) app.results.set(contract, params, "", { data: outcome.data, location: ranAt });
  }
  const shown: typeof outcome =
    outcome.status === "ok" ? { ...outcome, data: asSubmitted(contract, submitted, outcome.data) } : outcome;
  const run: Run = { answer: { ...answer, outcome: shown }, location: ranAt, cached: false, durationMs };
  onEvent?.({ event: "result", data: { ...rowOf(run), attempt: answer.attempt } });
  return run;
}

/** Asks one agent, and once more another one if the first was overloaded, both within the deadline. */
async function askAgents(ask: Ask, pick: PlaceChoice["pick"], deadlineMs: number): Promise<JobAnswer> {
  const { app, request, onEvent, where } = ask;
  const { clock, hub } = app;
  let startedAt = clock.monotonic();
  let isSent = false;
  const onSent = (): void => {
    // The time of a job that may wait begins when it is sent.
    if (!isSent && request.waitMs !== undefined) startedAt = clock.monotonic();
    isSent = true;
    request.onSent?.();
  };
  const wait = request.waitMs === undefined ? {} : { waitMs: request.waitMs };
  const first = await hub.run({ ...jobOf(ask, 0), ...wait, onSent, pick, deadlineMs });
  const leftMs = timeForAnother(first, deadlineMs, clock.monotonic() - startedAt);
  if (first.kind !== "outcome" || leftMs === null) return first;
  const pickOther: typeof pick = (excluded) => pick(new Set([...excluded, first.agentId]));
  if (pickOther(new Set()) === null) return first;
  const attempt = first.attempt + 1;
  const location = where(first.agentId);
  onEvent?.({ event: "restart", data: { location, attempt, reason: "probe_overloaded" } });
  const second = await hub.run({ ...jobOf(ask, first.attempt), onSent, pick: pickOther, deadlineMs: leftMs });
  return chooseAnswer(first, second);
}

/** Stores the names and addresses of a result, for the tools that look up an address; not those of private probes. */
function observe(app: CheckContext, { contract, accountId }: CheckRequest, data: unknown): void {
  if (contract.observes === undefined || app.inputs === undefined) return;
  app.inputs.observe(accountId, contract.observes(data as never));
}

/** A completed run at one location. */
interface Run {
  readonly answer: JobAnswer;
  readonly location: Location;
  readonly cached: boolean;
  readonly durationMs: number;
}

/** Converts a run to a row of an answer with several locations. */
function rowOf({ answer, location, durationMs }: Run): LocationRow {
  const base = { location, duration_ms: durationMs };
  const fail = (error: CheckError): LocationRow => ({ ...base, status: "failed", error });
  if (answer.kind !== "outcome")
    return fail(unavailableError(answer.kind === "unavailable" ? answer.reason : "no_probe"));
  const { outcome, artifact } = answer;
  if (outcome.status !== "ok") return fail(outcomeError(outcome));
  return { ...base, status: "ok", data: outcome.data, ...(artifact === undefined ? {} : { artifact }) };
}

/** Returns the row of a location without an available probe. */
function offlineRow({ location, reason }: OfflinePlace): LocationRow {
  return { location, duration_ms: 0, status: "failed", error: unavailableError(reason) };
}

const validators = new WeakMap<Contract, Validator>();

/** Turns a result that does not match the contract into a failure: an agent can be old, broken or hostile. */
export function enforceContract(contract: Contract, outcome: Outcome<unknown>): Outcome<unknown> {
  if (outcome.status !== "ok") return outcome;
  let validator = validators.get(contract);
  if (validator === undefined) {
    validator = Compile(contract.result);
    validators.set(contract, validator);
  }
  if (validator.Check(outcome.data)) return outcome;
  return failed("response", "probe", "invalid_result", "the result of the probe does not match the tool's schema");
}

/** The answer of an agent that ran the check. */
type Answered = Extract<JobAnswer, { kind: "outcome" }>;

/** Another agent is asked only with at least this part of the check's time. */
const LEAST_PART = 1 / 4;

/**
 * Returns the time for asking another agent, in milliseconds, if the first one was overloaded and said that another one
 * may be asked; else null. `usedMs` is the part of the check's time (`deadlineMs`) that the first one took.
 */
export function timeForAnother(first: JobAnswer, deadlineMs: number, usedMs: number): number | null {
  if (first.kind !== "outcome" || first.outcome.status !== "failed" || first.outcome.repeatable !== true) return null;
  const leftMs = Math.floor(deadlineMs - usedMs);
  return leftMs >= Math.max(1, deadlineMs * LEAST_PART) ? leftMs : null;
}

/**
 * Chooses between the answer of an overloaded agent and that of the second one. A timeout of the second one proves
 * nothing, because it had less time than the caller gives the target.
 */
export function chooseAnswer(first: Answered, second: JobAnswer): JobAnswer {
  if (second.kind === "cancelled") return second;
  if (second.kind === "unavailable" || isTimeout(second.outcome)) return { ...first, attempt: first.attempt + 1 };
  return { ...second, attempt: first.attempt + second.attempt };
}

function isTimeout(outcome: Outcome<unknown>): boolean {
  if (outcome.status === "failed") return outcome.reason === "timeout";
  if (outcome.status !== "ok" || !isRecord(outcome.data)) return false;
  // A monitor's check reports some timeouts in its result.
  const { verdict, fault } = outcome.data;
  return verdict === "down" && isRecord(fault) && fault["reason"] === "timeout";
}

/** A call at one location, for the agents there. */
interface Ask {
  readonly app: CheckContext;
  readonly request: CheckRequest;
  readonly onEvent: ((event: CheckEvent) => void) | undefined;
  /** Returns the location of an agent. */
  readonly where: (agentId: string) => Location;
}

/** Returns the job without its agent and its time. `before` is the number of attempts before it. */
function jobOf({ request, onEvent, where }: Ask, before: number): Omit<JobRequest, "pick" | "deadlineMs"> {
  const { contract, params } = request;
  return {
    tool: contract.name,
    params: JSON.stringify(params),
    ...(request.input === undefined ? {} : { input: JSON.stringify(request.input) }),
    ...(contract.artifact === undefined ? {} : { wantsArtifact: contract.artifact }),
    accountId: request.accountId,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
    ...(request.onProgressDropped === undefined ? {} : { onProgressDropped: request.onProgressDropped }),
    ...(onEvent === undefined
      ? {}
      : {
          onAccepted: (agentId, attempt) =>
            onEvent({ event: "probe", data: { location: where(agentId), attempt: before + attempt } }),
          onProgress: (agentId, attempt, progress) =>
            onEvent({
              event: "progress",
              data: { location: where(agentId), attempt: before + attempt, ...progress },
            }),
          onRestart: (agentId, attempt, reason) =>
            onEvent({ event: "restart", data: { location: where(agentId), attempt: before + attempt, reason } }),
        }),
  };
}
