import { describe, expect, it } from "vitest";
import type { CheckAnswer, CheckError, Location, LocationRow } from "#control-plane/checks/answer.ts";
import { certificateCall, toToolAnswer } from "#control-plane/watching/evidence/ask.ts";

const LOCATION: Location = {
  probe_id: "p",
  region: "eu-west",
  country: null,
  city: null,
  asn: null,
  latitude: null,
  longitude: null,
};

function rowWith(row: { status: "ok"; data: unknown } | { status: "failed"; error: CheckError }): CheckAnswer {
  const locations: LocationRow[] = [{ location: LOCATION, duration_ms: 1, ...row }];
  return { kind: "multi", refused: false, data: { locations, summary: {} } };
}

describe("an error of a tool in evidence", () => {
  it.each<[string, CheckAnswer, object]>([
    [
      "of the target has stage, source and reason",
      rowWith({
        status: "failed",
        error: { code: "request_failed", stage: "dns", source: "resolver", reason: "timeout", message: "m" },
      }),
      { code: "request_failed", stage: "dns", source: "resolver", reason: "timeout", message: "m" },
    ],
    [
      "of a target that is not allowed has the one text of all surfaces, and no source",
      { kind: "refused" },
      {
        code: "target_not_allowed",
        message: "This target is not allowed: it is not on the public internet, or not in a form that can be verified.",
      },
    ],
    [
      "of a location without a probe has its reason, and no advice to call again",
      { kind: "unavailable", reason: "busy" },
      { code: "probe_unavailable", reason: "busy", message: "Every probe of this location is busy." },
    ],
    [
      "of a probe that did not answer in time is that of the probe",
      { kind: "cancelled" },
      {
        code: "request_failed",
        stage: "request",
        source: "probe",
        reason: "out_of_time",
        message: "The probe did not answer in the time for evidence.",
      },
    ],
    [
      "of parameters names the field",
      { kind: "problem", problem: { field: "host", reason: "type", message: "must be a host" } },
      { code: "missing_parameter", field: "host", reason: "type", message: "host: must be a host." },
    ],
  ])("%s", (_, answer, error) => {
    expect(toToolAnswer(answer)).toEqual({ status: "failed", error });
  });

  it("is absent where there is a result", () => {
    expect(toToolAnswer(rowWith({ status: "ok", data: 5 }))).toEqual({ status: "ok", data: 5 });
  });
});

it("the look at a certificate is the check of an ssl monitor, which makes one handshake", () => {
  expect(certificateCall("a.example", 8_443)).toMatchObject({
    contract: { name: "monitor-ssl" },
    params: { host: "a.example", port: 8_443, known: null, always_whole: true },
  });
});
