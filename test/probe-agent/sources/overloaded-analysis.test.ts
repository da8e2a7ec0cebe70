import { expect, it } from "vitest";
import { jsonObjectAnalysis } from "#probe-agent/tools/ai-check/page-declarations.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { netOf } from "#test/support/net.ts";

const netThat = (isHalfUsed: boolean) =>
  netOf({ analyses: { run: () => Promise.resolve({ ok: false, reason: "overloaded", isHalfUsed }) } });

it("an analysis without processor time is the probe's failure, which another probe may answer", async () => {
  const overloaded = { status: "failed", stage: "response", source: "probe", reason: "probe_overloaded" };
  const failure = await runAnalysis(netThat(false), jsonObjectAnalysis, "{}");
  expect(failure).toMatchObject({ ...overloaded, repeatable: true });
  expect(failure).toHaveProperty("message", expect.stringMatching(/^The probe was overloaded: /));
});

it("but not where the data used half of it: it may be hostile, and would cost two probes", async () => {
  const failure = await runAnalysis(netThat(true), jsonObjectAnalysis, "{}");
  expect(failure).toMatchObject({ source: "probe", reason: "probe_overloaded" });
  expect(failure).not.toHaveProperty("repeatable");
});
