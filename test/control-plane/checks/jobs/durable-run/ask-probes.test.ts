import { expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { unavailableError, type CheckAnswer, type Location } from "#control-plane/checks/answer.ts";
import { readUnitAnswer } from "#control-plane/checks/jobs/durable-run/ask-probes.ts";

const location: Location = {
  probe_id: "one",
  region: "eu-a",
  country: null,
  city: null,
  asn: null,
  latitude: null,
  longitude: null,
};
const single = (outcome: Extract<CheckAnswer, { kind: "single" }>["outcome"]): CheckAnswer => {
  return { kind: "single", outcome, location, cached: false };
};

it("the answer of a single probe is the answer of the unit", () => {
  expect(readUnitAnswer(single({ status: "ok", data: 7 }), 0)).toEqual({ isAnswered: true, status: "ok", data: 7 });
  const refused = failed("connect", "target", "refused", "The connection was refused.");
  expect(readUnitAnswer(single(refused), 0)).toMatchObject({
    isAnswered: true,
    status: "failed",
    error: { code: "request_failed", reason: "refused" },
  });
});

it("each unit gets its row of an answer over several locations, or no answer if no probe was available", () => {
  const row = { location, duration_ms: 1 };
  const error = unavailableError("probe_lost");
  const own = { code: "request_failed", message: "no" } as const;
  const locations = [
    { ...row, status: "ok", data: 1 },
    { ...row, status: "failed", error },
    { ...row, status: "failed", error: own },
  ] as const;
  const answer: CheckAnswer = { kind: "multi", data: { locations, summary: {} }, refused: false };
  expect([0, 1, 2, 3].map((index) => readUnitAnswer(answer, index))).toEqual([
    { isAnswered: true, status: "ok", data: 1 },
    { isAnswered: false, error },
    { isAnswered: true, status: "failed", error: own },
    { isAnswered: false, error: unavailableError("no_probe") },
  ]);
});

it.each([
  [{ kind: "unavailable", reason: "probe_elsewhere" }, "probe_elsewhere"],
  [{ kind: "refused" }, "no_probe"],
  [{ kind: "cancelled" }, "busy"],
] as const)("%j leaves the unit without an answer", (answer, reason) => {
  expect(readUnitAnswer(answer, 0)).toEqual({ isAnswered: false, error: unavailableError(reason) });
});
