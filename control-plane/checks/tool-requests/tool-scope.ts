import { CONTRACTS } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";
import { hasScope, type Principal } from "#control-plane/http/access/principal.ts";
import type { Refusal } from "#control-plane/http/errors.ts";
import { outOfScope } from "#control-plane/http/gate.ts";

/** The scopes that tools need. */
const TOOL_SCOPES = [...new Set(CONTRACTS.map(({ scope }) => scope))];

/**
 * Returns the refusal of a caller without the scope of a tool, who starts no calls of it and reads no results of earlier
 * ones; null if the caller has it. undefined: a tool of an earlier release. It can have needed any scope, so the caller needs
 * those of all tools.
 */
export function refuseTool(principal: Principal, contract: Pick<Contract, "scope"> | undefined): Refusal | null {
  const needed = contract === undefined ? TOOL_SCOPES : [contract.scope];
  const missing = needed.find((scope) => !hasScope(principal.scopes, scope));
  return missing === undefined ? null : outOfScope(missing, principal);
}

/** Returns the names of the tools whose results a caller can read; null: of all, also those of earlier releases. */
export function readableTools(principal: Principal, contracts: readonly Contract[]): readonly string[] | null {
  if (refuseTool(principal, undefined) === null) return null;
  return contracts.filter((contract) => refuseTool(principal, contract) === null).map(({ name }) => name);
}

/** Throws the refusal of a caller without the scope of a tool. */
export function requireTool(principal: Principal, contract: Pick<Contract, "scope"> | undefined): void {
  const refusal = refuseTool(principal, contract);
  if (refusal !== null) throw refusal;
}
