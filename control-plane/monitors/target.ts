import type { Egress } from "#shared/egress.ts";
import { outcomeError } from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import { contractOf, kindOf, type ProbedType } from "#control-plane/kinds/kinds.ts";
import { refuseProblem, refuseWrite, type Written } from "#control-plane/http/written.ts";

/** A target that can be checked. */
interface MonitorTarget {
  /** Reports whether an agent with these egress rules can check it. */
  allows(egress: Egress): boolean;
}

/** Decides on the target of a monitor from its text, as its checks will. */
export function vetMonitorTarget(
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
