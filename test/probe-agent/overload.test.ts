import { describe, expect, it } from "vitest";
import { failed, ok } from "#shared/contracts/outcome.ts";
import { createLagRecord, TICK_MS } from "#probe-agent/loop-watch.ts";
import { blameOverload } from "#probe-agent/overload.ts";

const timeout = failed("connect", "target", "timeout", "192.0.2.1:443: connection timed out");

describe("the blame for a timeout", () => {
  it("is the target's while the agent's event loop ran", () => {
    expect(blameOverload(timeout, 0)).toBe(timeout);
    expect(blameOverload(timeout, 1_000)).toBe(timeout);
  });

  it("is the probe's if its event loop was held up for more than a second", () => {
    expect(blameOverload(timeout, 1_500)).toEqual({
      status: "failed",
      stage: "connect",
      source: "probe",
      reason: "probe_overloaded",
      repeatable: true,
      message:
        "The probe was overloaded: its event loop was held up for 1.5 s, so this result does not describe the target: 192.0.2.1:443: connection timed out",
    });
  });

  it.each([
    ["dns", "resolver"],
    ["connect", "target"],
    ["tls", "target"],
    ["request", "target"],
    ["response", "target"],
    ["response", "service"],
  ] as const)("at stage %s, of a %s", (stage, source) => {
    const blamed = blameOverload(failed(stage, source, "timeout", "no answer"), 2_000);
    expect(blamed).toMatchObject({ stage, source: "probe", reason: "probe_overloaded" });
  });

  it.each([
    ["another failure of the target", failed("connect", "target", "refused", "connection refused")],
    ["a timeout that is the probe's already", failed("response", "probe", "timeout", "no answer")],
    ["a result", ok({ code: 200 })],
    ["a monitor's check with another fault", ok({ verdict: "down", fault: { stage: "dns", reason: "nxdomain" } })],
    ["a monitor's check that is up", ok({ verdict: "up", fault: null })],
  ])("leaves %s alone", (_what, outcome) => {
    expect(blameOverload(outcome, 5_000)).toBe(outcome);
  });

  it("covers the timeouts that a monitor's check reports as its fault", () => {
    const fault = { stage: "response", reason: "timeout", message: "the body was cut short" };
    expect(blameOverload(ok({ verdict: "down", fault }), 2_000)).toMatchObject({
      status: "failed",
      stage: "response",
      source: "probe",
      reason: "probe_overloaded",
    });
  });
});

describe("the lag of an event loop", () => {
  it("is what a tick is late, from the job's start on", () => {
    let now = 0;
    const record = createLagRecord({ monotonic: () => now });
    const pass = (ms: number) => {
      now += ms;
      record.tick();
    };
    pass(TICK_MS);
    pass(TICK_MS + 400);
    expect(record.lagSince(0)).toBe(0);
    pass(TICK_MS + 3_000);
    expect(record.lagSince(0)).toBe(3_000);
    // This job began when most of the lag was over.
    expect(record.lagSince(now - 200)).toBe(200);
    expect(record.lagSince(now)).toBe(0);
    pass(TICK_MS + 1_200);
    expect(record.lagSince(0)).toBe(3_000);
    expect(record.lagSince(now - 1_300)).toBe(1_300 - 100);
  });

  it("is known before the tick that is due", () => {
    let now = 0;
    const record = createLagRecord({ monotonic: () => now });
    now = 5_000;
    expect(record.lagSince(0)).toBe(5_000 - TICK_MS);
  });

  it("is forgotten when it is older than every job", () => {
    let now = 0;
    const record = createLagRecord({ monotonic: () => now });
    now = 5_000;
    record.tick();
    for (let n = 0; n < 3_000; n += 1) {
      now += TICK_MS;
      record.tick();
    }
    now += TICK_MS + 1_000;
    record.tick();
    expect(record.lagSince(0)).toBe(1_000);
  });
});
