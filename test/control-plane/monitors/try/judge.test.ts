import { describe, expect, it } from "vitest";
import { judgedFinding } from "#control-plane/watching/checking/watch/observe.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { judgeChecks, type FoundAt } from "#control-plane/monitors/try/judge.ts";

const AT = Date.UTC(2030, 0, 1);
const PHASES = { redirect_ms: 0, dns_ms: 1.4, connect_ms: 2.6, tls_ms: 0, processing_ms: 8 };

function draftOf(locations: readonly string[], fields: Partial<MonitorDraft> = {}): MonitorDraft {
  return { ...defaultDraft("http", 1), url: "https://example.com/", locations, ...fields };
}

function good(location: string, responseMs: number): FoundAt {
  const finding = { ...judgedFinding("up", null), responseMs, httpStatus: 200, phases: PHASES };
  return { location, beganAt: AT, finding };
}

function bad(location: string): FoundAt {
  const fault = { stage: "connect", source: "target", reason: "refused", message: "connection refused" } as const;
  return { location, beganAt: AT, finding: judgedFinding("down", fault) };
}

function silent(location: string): FoundAt {
  const message = "no probe is online for this location";
  const fault = { stage: "request", source: "probe", reason: "no_probe", message } as const;
  return { location, beganAt: AT, finding: judgedFinding("unknown", fault) };
}

describe("the checks of a try", () => {
  it("are shown under the names of a monitor's checks", () => {
    expect(judgeChecks(draftOf(["a"]), [good("a", 12)])).toEqual({
      verdict: "up",
      cause: null,
      checks: [
        {
          checked_at: "2030-01-01T00:00:00.000Z",
          location: "a",
          status: "up",
          response_time_ms: 12,
          http_status_code: 200,
          timing: { redirect_ms: 0, dns_ms: 1, connect_ms: 3, tls_ms: 0, processing_ms: 8 },
          error: null,
        },
      ],
    });
  });

  it("make one location down without re-checks, whatever retries says", () => {
    expect(judgeChecks(draftOf(["a"], { retries: 5 }), [bad("a")])).toMatchObject({
      verdict: "down",
      cause: { code: "connect_refused", message: "Connection refused from a (port 443)" },
      checks: [{ status: "down", error: { reason: "refused" } }],
    });
  });

  it("are up while too few of several fail, and down with the quorum", () => {
    const found = [good("a", 5), bad("b"), good("c", 5)];
    expect(judgeChecks(draftOf(["a", "b", "c"]), found)).toMatchObject({ verdict: "up", cause: null });
    const one = judgeChecks(draftOf(["a", "b", "c"], { quorum: 1 }), found);
    expect(one).toMatchObject({ verdict: "down", cause: { message: "Connection refused from b (port 443)" } });
  });

  it("are unknown where they are even, with what fails as the cause", () => {
    const even = judgeChecks(draftOf(["a", "b"]), [good("a", 5), bad("b")]);
    expect(even).toMatchObject({ verdict: "unknown", cause: { code: "connect_refused" } });
  });

  it("count alone if nothing is known from the other locations", () => {
    const [up, down] = [good("a", 5), bad("a")].map((one) => judgeChecks(draftOf(["a", "b"]), [one, silent("b")]));
    expect(up).toMatchObject({ verdict: "up", cause: null });
    expect(down?.cause?.message).toBe(
      "Connection refused from a, the only one of 2 locations that could check (port 443)",
    );
  });

  it("are unknown if no location knows anything, and say why", () => {
    expect(judgeChecks(draftOf(["a", "b"]), [silent("a"), silent("b")])).toMatchObject({
      verdict: "unknown",
      cause: { code: "no_probe", message: "Nothing is known from a: no probe is online for this location" },
    });
  });

  it("are degraded if every good answer is too slow, and up if one is quick", () => {
    const draft = draftOf(["a", "b"], { degraded_ms: 100 });
    expect(judgeChecks(draft, [good("a", 101), good("b", 250)])).toMatchObject({
      verdict: "degraded",
      cause: { code: "slow", message: "Answered in up to 250 ms from a and b; degraded_ms is 100" },
      checks: [{ status: "degraded" }, { status: "degraded" }],
    });
    expect(judgeChecks(draft, [good("a", 101), good("b", 100)])).toMatchObject({
      verdict: "up",
      checks: [{ status: "degraded" }, { status: "up" }],
    });
  });
});
