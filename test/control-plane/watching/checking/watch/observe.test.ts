import { describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { MOST_CHECK_MS } from "#shared/monitor-checks/define.ts";
import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { enforceContract } from "#control-plane/checks/run-check.ts";
import { readFinding } from "#control-plane/watching/checking/watch/observe.ts";

const PHASES = { redirect_ms: 0, dns_ms: 1, connect_ms: 1, tls_ms: 1, processing_ms: 1 };
const RESULT = {
  verdict: "down",
  response_ms: 20,
  http_status: 500,
  fault: { stage: "response", reason: "unexpected_status", message: "expected 200, got 500" },
  phases: PHASES,
  certificate_fingerprint: null,
  whole: null,
  elapsed_ms: 20,
};
const LOCATION = { probe_id: "p", region: "eu", country: "", city: "", asn: 0, latitude: null, longitude: null };

function find(data: object) {
  const row = { location: LOCATION, duration_ms: 1, status: "ok", data } as const;
  return readFinding({ kind: "multi", refused: false, data: { locations: [row], summary: {} } });
}

describe("the contract of a monitor's check", () => {
  it("accepts what agents send, at its limits too", () => {
    const limits = { response_ms: MOST_CHECK_MS, elapsed_ms: MOST_CHECK_MS };
    for (const over of [{}, { http_status: null }, { http_status: 100 }, { http_status: 999 }, limits]) {
      expect(enforceContract(MONITOR_CHECKS["monitor-http"], ok({ ...RESULT, ...over })).status).toBe("ok");
    }
  });

  it.each([
    { response_ms: 1e12 },
    { response_ms: -1 },
    // JSON.parse reads 1e400 as this.
    { response_ms: Infinity },
    { http_status: 70_000 },
    { http_status: -1 },
    { http_status: 99 },
    { http_status: 200.5 },
    { elapsed_ms: 1e12 },
    ...Object.keys(PHASES).map((name) => ({ phases: { ...PHASES, [name]: 1e300 } })),
  ])("refuses %j", (over) => {
    const outcome = enforceContract(MONITOR_CHECKS["monitor-http"], ok({ ...RESULT, ...over }));
    expect(outcome).toMatchObject({ status: "failed", source: "probe", reason: "invalid_result" });
  });
});

describe("a finding", () => {
  it("has numbers that can be stored, whatever the result has", () => {
    expect(find({ ...RESULT, response_ms: 1e12, http_status: 70_000 })).toMatchObject({
      responseMs: MOST_CHECK_MS,
      httpStatus: null,
    });
    expect(find({ ...RESULT, response_ms: 20.6 })).toMatchObject({ responseMs: 21, httpStatus: 500 });
  });

  it("has texts of one line that every column can hold", () => {
    const fault = { stage: "connect", reason: "re\u0000set", message: "a\u0000b\ud800\r\nc\u202e" };
    expect(find({ ...RESULT, fault })?.fault).toEqual({
      stage: "connect",
      source: "target",
      reason: "re set",
      message: "a b\ufffd c",
    });
  });

  it.each([
    ["target", "down"],
    ["resolver", "down"],
    ["service", "unknown"],
    ["probe", "unknown"],
  ] as const)("of a failure of the %s says that the target is %s", (source, verdict) => {
    const error = { code: "request_failed", stage: "response", source, reason: "x", message: "m" } as const;
    const row = { location: LOCATION, duration_ms: 1, status: "failed", error } as const;
    const found = readFinding({ kind: "multi", refused: false, data: { locations: [row], summary: {} } });
    expect(found).toMatchObject({ verdict, fault: { source } });
  });
});
