import {
  outcomeError,
  overBudgetError,
  unavailableError,
  type CheckAnswer,
  type CheckError,
} from "#control-plane/checks/answer.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";

/** Answers with data; all others become a Refusal. */
export type AnsweredCheck = Extract<CheckAnswer, { kind: "single" | "multi" | "dry_run" }>;

/**
 * Throws a Refusal for an answer without data, and returns the others. A check over several locations is an answer even
 * if every location failed, unless all of them refused the target. `shareId` is the id under which the answer is
 * stored.
 */
export function refuseUnanswered(answer: CheckAnswer, shareId: string | null = null): AnsweredCheck {
  switch (answer.kind) {
    case "single":
      if (answer.outcome.status !== "ok") throw toRefusal(outcomeError(answer.outcome), shareId);
      return answer;
    case "multi":
      if (answer.refused) throw toRefusal(outcomeError({ status: "refused" }));
      return answer;
    case "dry_run":
      return answer;
    case "refused":
      throw toRefusal(outcomeError({ status: "refused" }));
    case "problem":
      throw refuseField(answer.problem);
    case "unavailable":
      throw toRefusal(unavailableError(answer.reason));
    case "over_budget": {
      const { code, ...details } = overBudgetError(answer.retryAfterSeconds);
      throw new Refusal(code, { ...details, headers: { "retry-after": String(answer.retryAfterSeconds) } });
    }
    case "cancelled":
      throw toRefusal(unavailableError("no_probe"));
    case "over_plan": {
      const message = `This call would use ${answer.asked} probes; the plan allows ${answer.limit} per call.`;
      throw new Refusal("plan_limit_exceeded", { message, field: "locations" });
    }
  }
}

function toRefusal(
  { code, retry_after_seconds: retryAfterSeconds, ...details }: CheckError,
  shareId: string | null = null,
): Refusal {
  return new Refusal(code, {
    ...details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(shareId === null ? {} : { shareId }),
  });
}
