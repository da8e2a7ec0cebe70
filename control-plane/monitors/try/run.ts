import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import type { CheckRequest } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import { judgeComposite } from "#control-plane/watching/checking/timeout-sweep/composite.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";
import { judgedFinding, readFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { pictureOf, withoutPicture } from "#control-plane/watching/checking/watch/picture-finding.ts";
import { readLocation } from "#control-plane/watching/checking/watch/served.ts";
import { readStatuses } from "#control-plane/outages/composites.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { TIMEOUT_SECONDS } from "#control-plane/watching/expiry/sweep/look.ts";
import { nextRuns } from "#control-plane/watching/heartbeats/deadline.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import { isProbed, kindOf, probeOf, type CheckType, type ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { secretsOf } from "#control-plane/outages/kinds/secrets.ts";
import { settingsOf } from "#control-plane/monitors/draft.ts";
import { judgeChecks, type FoundAt, type Judged } from "#control-plane/monitors/try/judge.ts";

/** What a try of a monitor found, under its names in the API. */
export interface Tried extends Judged {
  readonly check_type: CheckType;
  /** Whether anything was checked: there is nothing to check of a heartbeat. */
  readonly checked: boolean;
  /** Why nothing was checked, for people; null if it was. */
  readonly message: string | null;
  /** ISO 8601: the next runs of a heartbeat by its cron expression; null if it has none. */
  readonly next_runs: readonly string[] | null;
}

/** What runs a check: checks/run-check.ts. */
export type RunCheck = (request: CheckRequest) => Promise<CheckAnswer>;

/** Longest time that a check waits for a free agent before its own time begins, in milliseconds. */
const WAIT_MS = 10_000;
/** Number of the next runs of a heartbeat that are shown. */
const SHOWN_RUNS = 5;

const UNFINISHED: Finding = judgedFinding("unknown", {
  stage: "request",
  source: "service",
  reason: "not_finished",
  message: "the check did not end in the time that a try has",
});

/**
 * Runs a monitor once that was checked as for its creation, and records nothing. Once `signal` is aborted, what has not
 * ended is unknown.
 */
export async function runDraft(
  deps: Pick<App, "clock"> & { readonly sql: Queryable; readonly run: RunCheck },
  accountId: number,
  draft: MonitorDraft,
  signal: AbortSignal,
): Promise<Tried> {
  const { check_type: type, composite } = draft;
  const tried = { check_type: type, checked: true, message: null, next_runs: null };
  if (isProbed(type))
    return { ...tried, ...(await checkEverywhere(deps, accountId, { ...draft, check_type: type }, signal)) };
  if (composite !== null) return { ...tried, ...(await judgeMembers(deps.sql, accountId, draft, composite)) };
  const { heartbeat } = draft;
  const runs = heartbeat === null ? null : nextRuns(heartbeat, deps.clock.now(), SHOWN_RUNS);
  return {
    ...tried,
    verdict: "unknown",
    cause: null,
    checks: [],
    checked: false,
    message: `There is nothing to check: the monitor is a ${type}, ${kindOf(type).words.unchecked}.`,
    next_runs: runs?.map((run) => run.toISOString()) ?? null,
  };
}

type ProbedDraft = MonitorDraft & { readonly check_type: ProbedType };

/** Checks from every location, as planned checks do; a registry is asked from one, because its answer is the same. */
async function checkEverywhere(
  deps: Pick<App, "clock"> & { readonly sql: Queryable; readonly run: RunCheck },
  accountId: number,
  draft: ProbedDraft,
  signal: AbortSignal,
): Promise<Judged> {
  const isRegistry = probeOf(draft.check_type).judgedBy === "registry";
  const locations = isRegistry ? draft.locations.slice(0, 1) : draft.locations;
  const found = await Promise.all(locations.map((location) => checkAt(deps, accountId, draft, { location, signal })));
  return judgeChecks({ ...draft, locations }, found);
}

/** Checks from one location. */
async function checkAt(
  { clock, run }: Pick<App, "clock"> & { readonly run: RunCheck },
  accountId: number,
  draft: ProbedDraft,
  { location, signal }: { readonly location: string; readonly signal: AbortSignal },
): Promise<FoundAt> {
  const { url, check_type: checkType } = draft;
  const isRegistry = probeOf(checkType).judgedBy === "registry";
  const open = settingsOf(draft);
  // Registries are slow, and planned checks of such a monitor do not ask them.
  const settings = isRegistry ? { ...open, timeout_seconds: TIMEOUT_SECONDS.domain } : open;
  // Whole results, which only a known verdict saves, are not shown.
  const { contract, params } = monitorCall({ url, checkType, settings }, secretsOf(draft), "up", false);
  let beganAt = clock.now().getTime();
  const answer = await run({
    contract,
    params,
    accountId,
    locations: readLocation(location) ?? [],
    maxLocations: 1,
    pace: "paced",
    waitMs: WAIT_MS,
    signal,
    // What waits for a free agent has not begun.
    onSent: () => (beganAt = clock.now().getTime()),
  });
  return { location, beganAt, finding: readAnswer(draft, answer) };
}

/** Reads an answer as planned checks of the kind are judged. */
function readAnswer({ check_type: type, visual }: ProbedDraft, answer: CheckAnswer): Finding {
  const finding = readFinding(answer);
  if (finding === null) return UNFINISHED;
  if (visual !== null) {
    const { fault } = pictureOf(answer, finding);
    return fault === null ? finding : withoutPicture(finding, fault);
  }
  // A registry that does not answer says nothing about the domain.
  const isSilent = probeOf(type).judgedBy === "registry" && !hasResult(answer);
  return isSilent ? { ...finding, verdict: "unknown" } : finding;
}

function hasResult(answer: CheckAnswer): boolean {
  return answer.kind === "multi" && answer.data.locations[0]?.status === "ok";
}

/** Judges a composite by its monitors as they are now. */
async function judgeMembers(
  sql: Queryable,
  accountId: number,
  draft: MonitorDraft,
  composite: CompositeSettings,
): Promise<Judged> {
  const members = await readStatuses(sql, accountId, composite.monitor_ids);
  const { verdict, fault } = judgeComposite(composite, members);
  const target = { url: draft.url, checkType: draft.check_type, settings: draft };
  if (verdict === "up") return { verdict, cause: null, checks: [] };
  if (verdict === "down") return { verdict, cause: describeCause(target, [{ location: "", fault }]), checks: [] };
  const message = "Nothing is known about any of its monitors";
  return { verdict, cause: { code: "members_unknown", message }, checks: [] };
}
