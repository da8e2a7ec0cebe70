import type { CheckContext } from "#control-plane/checks/context.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { findScheduleProblem } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import { chooseLocations, vetEquipment, vetLocations } from "#control-plane/monitors/places.ts";
import { vetSend } from "#control-plane/monitors/send-rule.ts";
import { refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { mergeGiven } from "#control-plane/monitors/settings/merge.ts";
import type { Plan } from "#control-plane/core/plans.ts";
import { isProbed, kindOf, optionsOf, contractOf, type ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { problem } from "#control-plane/outages/kinds/kind.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { outcomeError } from "#control-plane/checks/answer.ts";
import { decideTarget } from "#control-plane/checks/target.ts";

/** Checks the rules between fields, except the locations. Returns the first problem; null if there is none. */
export function findConflict(draft: MonitorDraft): FieldProblem | null {
  const { check_type: type, url } = draft;
  const kind = kindOf(type);
  if (kind.target !== null && url === "") return MISSING_URL;
  for (const [field, what] of Object.entries(kind.required)) {
    if (draft[field as keyof MonitorDraft] === null) {
      return problem(field, "required", `is required for check_type ${type}: ${what}`);
    }
  }
  return kind.findConflict(draft, optionsOf(type, draft));
}

/** The problem of a monitor whose check type needs a target. */
const MISSING_URL: FieldProblem = { field: "url", reason: "required", message: "is required" };

/** Checks the quorum against the locations, which are known later than the other fields. */
export function findQuorumConflict({ quorum, locations }: MonitorDraft): FieldProblem | null {
  if (quorum === "majority" || quorum <= locations.length) return null;

  return problem("quorum", "range", `must be majority or at most ${locations.length}, the number of locations`);
}

/** What decisions about a monitor depend on besides its fields. */
export interface VetContext {
  readonly checks: Pick<CheckContext, "hub" | "optOut">;
  readonly accountId: number;
  readonly plan: Plan;
}

/** Completes and checks a new monitor: fields, target, locations and plan; not its dependency. */
export function vetCreation(context: VetContext, given: Given): Written<MonitorDraft> {
  const { checks, accountId, plan } = context;
  const merged = mergeGiven(defaultDraft(given.check_type ?? "http", plan.shortestIntervalMinutes), given);
  if (!merged.ok) return refuseProblem(merged.problem);
  const { check_type: checkType } = merged.value;
  if (!isProbed(checkType)) return vetUnprobed(merged.value, null);
  const target = vetTarget(context, merged.value);
  if (!target.ok) return target;
  const conflict = findConflict(merged.value);
  if (conflict !== null) return refuseProblem(conflict);
  const { list, rules } = checks.hub.roster.candidates(accountId);
  const sends = vetSend(null, merged.value, rules);
  if (!sends.ok) return sends;
  const { draft } = sends.value;
  if (draft.locations.length > 0) {
    const known = vetPlaces(checkType, draft.locations, list);
    return known.ok ? vetPlan(plan, draft, NOTHING) : known;
  }
  const allows = (egress: Egress): boolean => target.value.allows(egress) && sends.value.allows(egress);
  const chosen = chooseLocations(checkType, list, plan.locations, allows);
  return chosen.ok ? vetPlan(plan, { ...draft, locations: chosen.value }, NOTHING) : chosen;
}

/** The present fields of a monitor that does not exist yet. */
const NOTHING = { locations: [], interval_minutes: null };

/**
 * Completes and checks a changed monitor. What does not change is not checked again, so that a monitor stays editable
 * while its probes are away and after a downgrade.
 */
export function vetUpdate(context: VetContext, present: MonitorDraft, given: Given): Written<MonitorDraft> {
  const { checks, accountId, plan } = context;
  const merged = mergeGiven(present, given);
  if (!merged.ok) return refuseProblem(merged.problem);
  const { url, check_type: checkType } = merged.value;
  if (!isProbed(checkType)) return vetUnprobed(merged.value, present.heartbeat);
  const target = url !== present.url || checkType !== present.check_type ? vetTarget(context, merged.value) : null;
  if (target?.ok === false) return target;
  const conflict = findConflict(merged.value);
  if (conflict !== null) return refuseProblem(conflict);
  const sends = vetSend(present, merged.value, checks.hub.roster.candidates(accountId).rules);
  if (!sends.ok) return sends;
  const { draft } = sends.value;
  if (draft.locations.length === 0) {
    // No probe checked it, so it has none.
    const { list } = checks.hub.roster.candidates(accountId);
    const allows = (egress: Egress): boolean =>
      target?.ok === true && target.value.allows(egress) && sends.value.allows(egress);
    const chosen = chooseLocations(checkType, list, plan.locations, allows);
    return chosen.ok ? vetPlan(plan, { ...draft, locations: chosen.value }, present) : chosen;
  }
  const isOtherType = draft.check_type !== present.check_type;
  const added = draft.locations.filter((location) => isOtherType || !present.locations.includes(location));
  const known = vetPlaces(draft.check_type, added, checks.hub.roster.candidates(accountId).list);
  return known.ok ? vetPlan(plan, draft, present) : known;
}

/** Checks that each of these locations has a known probe that can check monitors of the type. */
function vetPlaces(
  checkType: MonitorDraft["check_type"],
  locations: readonly string[],
  candidates: Parameters<typeof vetLocations>[1],
): Written<null> {
  const known = vetLocations(locations, candidates);
  return known.ok && locations.length > 0 ? vetEquipment(checkType, locations, candidates) : known;
}

function vetTarget(
  { checks, accountId }: VetContext,
  draft: Pick<MonitorDraft, "check_type" | "url">,
): ReturnType<typeof vetMonitorTarget> {
  const { check_type: checkType, url } = draft;
  if (!isProbed(checkType)) throw new Error(`a ${checkType} has no target`);
  if (url === "") return refuseProblem(MISSING_URL);
  return vetMonitorTarget(checks, accountId, { check_type: checkType, url });
}

/**
 * What no probe checks has no target and no locations, and the plan does not limit its interval. The schedule of a
 * heartbeat that it has already, `present`, is not checked again: more was taken once.
 */
function vetUnprobed(draft: MonitorDraft, present: HeartbeatSettings | null): Written<MonitorDraft> {
  const { heartbeat } = draft;
  const isKept =
    heartbeat === null ||
    (present !== null && heartbeat.cron === present.cron && heartbeat.timezone === present.timezone);
  const found = findConflict(draft) ?? (isKept ? null : findScheduleProblem(heartbeat));
  return found === null ? { ok: true, value: draft } : refuseProblem(found);
}

/** Checks the quorum, and what the plan limits as far as it differs from the present fields. */
function vetPlan(
  plan: Plan,
  draft: MonitorDraft,
  present: { readonly locations: readonly string[]; readonly interval_minutes: number | null },
): Written<MonitorDraft> {
  const { locations, interval_minutes: interval } = draft;
  const conflict = findQuorumConflict(draft);
  if (conflict !== null) return refuseProblem(conflict);
  if (locations.length > plan.locations && locations.length > present.locations.length) {
    const message = `This monitor has ${locations.length} locations; the plan allows ${plan.locations}.`;
    return refuseWrite({ code: "plan_limit_exceeded", field: "locations", message });
  }
  const shortest = plan.shortestIntervalMinutes;
  if (interval < shortest && interval !== present.interval_minutes) {
    const message = `The interval is ${interval} min; the shortest interval of the plan is ${shortest} min.`;
    return refuseWrite({ code: "plan_limit_exceeded", field: "interval_minutes", message });
  }
  return { ok: true, value: draft };
}

/** A target that can be checked. */
interface MonitorTarget {
  /** Reports whether an agent with these egress rules can check it. */
  allows(egress: Egress): boolean;
}

/** Decides on the target of a monitor from its text, as its checks will. */
function vetMonitorTarget(
  { hub, optOut }: Pick<CheckContext, "hub" | "optOut">,
  accountId: number,
  { check_type: type, url }: { readonly check_type: ProbedType; readonly url: string },
): Written<MonitorTarget> {
  const contract = contractOf(type);
  const { rules } = hub.roster.candidates(accountId);
  const decided = decideTarget(
    contract,
    { [contract.target?.param ?? "url"]: kindOf(type).target?.ruledPart(url) ?? url },
    rules,
    optOut,
  );
  if (decided.ok) return { ok: true, value: decided };
  if (!decided.refused) return refuseProblem({ ...decided.problem, field: "url" });
  const { message } = outcomeError({ status: "refused" });
  return refuseWrite({ code: "target_not_allowed", message, field: "url" });
}
