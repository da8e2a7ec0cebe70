import { locationOf, type CheckAnswer, type Location } from "#control-plane/checks/answer.ts";
import { asSubmitted } from "#control-plane/checks/as-submitted.ts";
import { isAllCached } from "#control-plane/checks/cached-results.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import {
  choosePlaces,
  choosePlanned,
  type OfflinePlace,
  type PlaceChoice,
  type ProbeRequirements,
} from "#control-plane/checks/places.ts";
import { decideDestination, decideTarget } from "#control-plane/checks/target.ts";
import { targetKey } from "#control-plane/http/limits/target-key.ts";

/** A call that can be sent to agents, or its answer if no agent is needed. */
export type Decision =
  | { readonly go: false; readonly answer: CheckAnswer }
  | {
      readonly go: true;
      /** The call with the target in normal form. */
      readonly request: CheckRequest;
      readonly choices: readonly PlaceChoice[];
      readonly offline: readonly OfflinePlace[];
      /** Key under which jobs of the target are counted; null: not counted. */
      readonly counted: string | null;
    };

/** Decides about a call before dispatch: target rules, cache, choice of agents, plan, budget of the target. */
export async function decideCall(app: CheckContext, request: CheckRequest): Promise<Decision> {
  const { contract, locations } = request;
  const prober = request.sharedOnly === true ? null : request.accountId;
  const { rules, sharedRules } = app.hub.roster.candidates(prober);
  const target = decideTarget(contract, request.params, rules, app.optOut);
  if (!target.ok)
    return answerWith(target.refused ? { kind: "refused" } : { kind: "problem", problem: target.problem });
  const destination = request.reaches === undefined ? target : decideDestination(request.reaches, rules, app.optOut);
  if (destination === null) return answerWith({ kind: "refused" });

  const cached = locations === null ? app.results.get(contract, target.params, "") : undefined;
  if (cached !== undefined && request.dryRun !== true) {
    const outcome = { status: "ok", data: asSubmitted(contract, request.params, cached.data) } as const;
    return answerWith({ kind: "single", outcome, location: cached.location, cached: true });
  }
  const requirements: ProbeRequirements = {
    accountId: prober,
    locations,
    needs: contract.needs?.(target.params) ?? [],
    allows: (egress) => target.allows(egress) && destination.allows(egress),
  };
  const places =
    request.places === undefined
      ? choosePlaces(app.hub.roster, requirements)
      : choosePlanned(app.hub.roster, requirements, request.places);
  if (!places.ok) return answerWith(places.answer);
  const { choices, offline } = places;
  if (choices.length > request.maxLocations) {
    return answerWith({ kind: "over_plan", limit: request.maxLocations, asked: choices.length });
  }
  if (request.dryRun === true && request.reserves !== true) return answerWith(dryRun(choices, offline));

  const checked = { ...request, params: target.params };
  // Targets in the operator's allow lists are exempt; lists of private agents do not exempt public targets.
  const { host } = destination;
  const isExempt = host === null || !destination.isPublic || sharedRules.some((egress) => egress.lists(host));
  const counted = isExempt || isAllCached(app, checked, choices) ? null : targetKey(host);
  if (counted !== null && request.pace !== "paced") {
    const decision = await app.budget?.take(counted, request.accountId === null);
    if (decision?.ok === false) {
      return answerWith({ kind: "over_budget", retryAfterSeconds: decision.retryAfterSeconds });
    }
  }
  if (request.dryRun === true) return answerWith(dryRun(choices, offline));
  return { go: true, request: checked, choices, offline, counted };
}

function answerWith(answer: CheckAnswer): Decision {
  return { go: false, answer };
}

function dryRun(choices: readonly PlaceChoice[], offline: readonly OfflinePlace[]): CheckAnswer {
  const places: readonly Location[] = choices.map(({ place }) => locationOf(place));
  return { kind: "dry_run", locations: places, offline: offline.map(({ location }) => location) };
}
