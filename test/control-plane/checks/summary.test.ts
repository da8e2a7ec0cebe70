import { describe, expect, it } from "vitest";
import { unavailableError, type LocationRow } from "#control-plane/checks/answer.ts";
import { spread, summarise } from "#control-plane/checks/summary.ts";
import { echoTool } from "#test/control-plane/checks/echo-tool.ts";

const location = { probe_id: "p", region: "r", country: null, city: null, asn: null, latitude: null, longitude: null };
const answered = (url: string, rtt: number): LocationRow => ({
  location,
  duration_ms: 1,
  status: "ok",
  data: { url, rtt_ms: rtt },
});
const lost: LocationRow = { location, duration_ms: 1, status: "failed", error: unavailableError("probe_lost") };

describe("the summary over locations", () => {
  it("counts answers, says whether they agree, and has the spread of the tool's durations", () => {
    expect(summarise(echoTool, [answered("a", 1), answered("a", 5), lost])).toEqual({
      total: 3,
      ok: 2,
      failed: 1,
      consistent: true,
      rtt_ms: { min: 1, median: 3, max: 5 },
    });
    expect(summarise(echoTool, [answered("a", 1), answered("b", 5)])).toMatchObject({ consistent: false });
  });

  it("has no value for agreement when no location answered", () => {
    expect(summarise(echoTool, [lost])).toEqual({ total: 1, ok: 0, failed: 1, consistent: null });
  });
});

describe("a spread", () => {
  it.each([
    [[], null],
    [[null, null], null],
    [[3], { min: 3, median: 3, max: 3 }],
    [[4, null, 1, 9], { min: 1, median: 4, max: 9 }],
    [[1, 2], { min: 1, median: 1.5, max: 2 }],
  ])("of %j is %j", (values, expected) => {
    expect(spread(values)).toEqual(expected);
  });
});
