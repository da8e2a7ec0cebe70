import { KEY_SCOPES, type KeyScope, type Scope } from "#shared/tools/define.ts";
import type { Plan } from "#control-plane/core/plans.ts";

/** The caller of a request: a key, its account, and what both are allowed to do. */
export interface Principal {
  readonly keyId: number;
  readonly accountId: number;
  readonly plan: Plan;
  /** Scopes that the key is allowed to use, in the order of KEY_SCOPES. */
  readonly scopes: readonly KeyScope[];
}

/** Returns the scopes that a key is allowed to use: its own within those of the plan; all of the plan's if null. */
export function effectiveScopes(ofKey: readonly string[] | null, ofPlan: readonly Scope[]): readonly KeyScope[] {
  const scopes = keyScopesOf(ofPlan);
  return ofKey === null ? ofPlan : scopes.filter((scope) => ofKey.includes(scope));
}

/** Returns the scopes that keys of a plan can have, in the order of KEY_SCOPES. */
export function keyScopesOf(ofPlan: readonly Scope[]): readonly KeyScope[] {
  return KEY_SCOPES.filter((scope) => ofPlan.includes(planScopeOf(scope)));
}

/** Returns the scope that a plan must have for a scope of a key. */
export function planScopeOf(scope: KeyScope): Scope {
  return scope === READER ? WRITER : scope;
}

/** Reports whether scopes allow what needs a scope: who writes monitors reads them too. */
export function hasScope(scopes: readonly KeyScope[], scope: KeyScope): boolean {
  return scopes.includes(scope) || (scope === READER && scopes.includes(WRITER));
}

const READER = "monitors:read";
const WRITER = "monitors";
