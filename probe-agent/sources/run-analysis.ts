import { failed, ok, type Outcome } from "#shared/outcome.ts";
import type { AnalysisName, InputOf, ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { AnalysisFailure } from "#probe-agent/toolkit/analyses.ts";

const TOO_COMPLEX = "page_too_complex";
const FAILURES: Readonly<Record<AnalysisFailure["reason"], Outcome<never>>> = {
  too_slow: failed("response", "target", TOO_COMPLEX, "the received data takes too long to analyse"),
  out_of_memory: failed("response", "target", TOO_COMPLEX, "the received data needs too much memory to analyse"),
  busy: failed("response", "probe", "busy", "the probe is analysing too much at the same time"),
  cancelled: failed("response", "probe", "cancelled", "the check ended first"),
  broken: failed("response", "probe", "broken", "the probe's analysis did not start"),
};

/**
 * Analyses data from a foreign server. Fails if that takes too much: page_too_complex is the sender's fault, everything
 * else the probe's.
 */
export async function runAnalysis<Name extends AnalysisName>(
  net: Net,
  name: Name,
  input: InputOf<Name>,
): Promise<Outcome<ReportOf<Name>>> {
  const analysed = await net.analyses.run(name, input);
  return analysed.ok ? ok(analysed.report) : FAILURES[analysed.reason];
}

/** Reports whether an outcome is the failure of a page that needs too much time or memory. */
export function isTooComplex(outcome: Outcome<unknown>): boolean {
  return outcome.status === "failed" && outcome.reason === TOO_COMPLEX;
}
