import { expect, it } from "vitest";
import { decodePhases, encodePhases } from "#control-plane/watching/checking/snapshots/phases.ts";

it("keeps the phases of a response time to the microsecond", () => {
  const phases = { redirect_ms: 0, dns_ms: 1.2345, connect_ms: 10, tls_ms: 20.5, processing_ms: 300.001 };
  const text = encodePhases(phases);
  expect(text).toBe("0,1235,10000,20500,300001");
  expect(decodePhases(text)).toEqual([
    ["redirect", 0],
    ["dns", 0.001235],
    ["connect", 0.01],
    ["tls", 0.0205],
    ["processing", 0.300001],
  ]);
});

it.each([null, "", "1,2,3,4", "1,2,3,4,5,6", "1,2,x,4,5", "1,2,,4,5.5"])("reads no phases from %j", (text) => {
  expect(decodePhases(text)).toBeNull();
});
