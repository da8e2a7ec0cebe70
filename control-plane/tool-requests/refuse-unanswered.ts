import {
  outcomeError,
  overBudgetError,
  unavailableError,
  type CheckAnswer,
  type CheckError,
} from "#control-plane/checks/answer.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";

/** The answers that carry data; every other one is a Refusal. */
export type AnsweredCheck = Extract<CheckAnswer, { kind: "single" | "multi" | "dry_run" }>;

/**
 * Throws the Refusal that a check's answer calls for, and returns the others. A check over several locations is an
 * answer even where every location failed, unless all of them refused the target. `shareId`: under which
 * the answer was kept.
 */
export function refuseUnanswered(answer: CheckAnswer, shareId: string | null = null): AnsweredCheck {
  switch (answer.kind) {
    case "single":
      if (answer.outcome.status !== "ok") throw refusalOf(outcomeError(answer.outcome), shareId);
      return answer;
    case "multi":
      if (answer.refused) throw refusalOf(outcomeError({ status: "refused" }));
      return answer;
    case "dry_run":
      return answer;
    case "refused":
      throw refusalOf(outcomeError({ status: "refused" }));
    case "problem":
      throw refuseField(answer.problem);
    case "unavailable":
      throw refusalOf(unavailableError(answer.reason));
    case "over_budget": {
      const { code, ...details } = overBudgetError(answer.retryAfterSeconds);
      throw new Refusal(code, { ...details, headers: { "retry-after": String(answer.retryAfterSeconds) } });
    }
    case "cancelled":
      throw refusalOf(unavailableError("no_probe"));
    case "over_plan": {
      const message = `This call would use ${answer.asked} probes; the plan allows ${answer.limit} per call.`;
      throw new Refusal("plan_limit_exceeded", { message, field: "locations" });
    }
  }
}

function refusalOf(
  { code, retry_after_seconds: retryAfterSeconds, ...details }: CheckError,
  shareId: string | null = null,
): Refusal {
  return new Refusal(code, {
    ...details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(shareId === null ? {} : { shareId }),
  });
}
