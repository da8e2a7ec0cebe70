import { describe, expect, it } from "vitest";
import { Refusal } from "#control-plane/http/errors.ts";
import {
  refuseAbsent,
  refuseGone,
  refuseProblem,
  refuseWrite,
  requireWritten,
  type Refused,
} from "#control-plane/http/written.ts";

/** Returns the error answer of a refused write. */
function answerOf(refused: Refused): Pick<Refusal, "status" | "code" | "details"> {
  try {
    requireWritten(refused);
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, code: error.code, details: error.details };
    throw error;
  }
  throw new Error("the write was not refused");
}

describe("the answer of a write", () => {
  it("is its value if it was done", () => {
    expect(requireWritten({ ok: true, value: 7 })).toBe(7);
  });

  it("names the field of a problem once, before the message", () => {
    expect(answerOf(refuseProblem({ field: "url", reason: "required", message: "is required" }))).toEqual({
      status: 400,
      code: "missing_parameter",
      details: { field: "url", reason: "required", message: "url: is required." },
    });
  });

  it("has the message of another refusal as it is, with the field", () => {
    expect(answerOf(refuseWrite({ code: "plan_limit_exceeded", field: "monitors", message: "Too many." }))).toEqual({
      status: 403,
      code: "plan_limit_exceeded",
      details: { field: "monitors", message: "Too many." },
    });
  });

  it("has the seconds to wait in its header", () => {
    const refused = refuseWrite({ code: "rate_limit_exceeded", message: "Wait.", retryAfterSeconds: 20 });
    expect(answerOf(refused)).toMatchObject({ status: 429, details: { headers: { "retry-after": "20" } } });
  });

  it("says that no record has the id", () => {
    expect(answerOf(refuseAbsent("status page"))).toEqual({
      status: 404,
      code: "not_found",
      details: { message: "No status page has this id." },
    });
  });

  it("asks for another key if the account was deleted", () => {
    expect(answerOf(refuseGone())).toEqual({
      status: 401,
      code: "invalid_api_key",
      details: {
        message: "The account of this API key was deleted.",
        headers: { "www-authenticate": "Bearer" },
      },
    });
  });
});
