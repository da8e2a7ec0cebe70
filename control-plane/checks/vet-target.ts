import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { normaliseTarget } from "#control-plane/checks/cache.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { decideTarget } from "#control-plane/checks/target.ts";

/** A target that a tool can check with its other parameters at their defaults, or the reason why not. */
type VettedTarget =
  | {
      readonly ok: true;
      /** Parameters as submitted, with defaults. */
      readonly params: Readonly<Record<string, unknown>>;
      /** Key that is the same for every spelling of a target. */
      readonly key: string;
    }
  | { readonly ok: false; readonly code: "missing_parameter" | "target_not_allowed"; readonly message: string };

/** Decides on a target as a check does before dispatch. Returns null if the tool has no target parameter. */
export function vetTarget(
  { hub, optOut }: Pick<CheckContext, "hub" | "optOut">,
  contract: Contract,
  accountId: number,
  target: string,
): VettedTarget | null {
  if (contract.target === null) return null;
  const { param } = contract.target;
  const parsed = parseToolParams(contract, { [param]: target }, { from: "json", unknown: "refuse" });
  if (!parsed.ok) return { ok: false, code: "missing_parameter", message: parsed.problem.message };
  const { rules } = hub.roster.candidates(accountId);
  const decided = decideTarget(contract, parsed.value, rules, optOut);
  if (decided.ok) {
    return { ok: true, params: parsed.value, key: String(normaliseTarget(contract, decided.params[param])) };
  }
  if (decided.refused)
    return {
      ok: false,
      code: "target_not_allowed",
      message: "is not allowed: not on the public internet, or opted out",
    };
  return { ok: false, code: "missing_parameter", message: decided.problem.message };
}
