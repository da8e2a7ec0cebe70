import { SCOPES, type Scope } from "#shared/tools/define.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** The caller of a request: a key, its account, and what both are allowed to do. */
export interface Principal {
  readonly keyId: number;
  readonly accountId: number;
  readonly plan: Plan;
  /** Scopes that the key is allowed to use, in the order of SCOPES. */
  readonly scopes: readonly Scope[];
}

/** Returns the scopes that a key is allowed to use: its own within those of the plan; all of the plan's if null. */
export function effectiveScopes(ofKey: readonly string[] | null, ofPlan: readonly Scope[]): readonly Scope[] {
  return SCOPES.filter((scope) => ofPlan.includes(scope) && (ofKey === null || ofKey.includes(scope)));
}
