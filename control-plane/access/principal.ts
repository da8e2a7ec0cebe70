import { SCOPES, type Scope } from "#shared/tools/define.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** Who calls: a key, the account it belongs to, and what both may do. */
export interface Principal {
  readonly keyId: number;
  readonly accountId: number;
  readonly plan: Plan;
  /** What the key may do, in the order of SCOPES. */
  readonly scopes: readonly Scope[];
}

/** What a key may do: its own scopes within those of the plan; a key without a list of its own has the plan's. */
export function effectiveScopes(ofKey: readonly string[] | null, ofPlan: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => ofPlan.includes(scope) && (ofKey === null || ofKey.includes(scope)));
}
