import { failed, ok, overloaded, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { AnalysisFailure, Overloaded } from "#probe-agent/toolkit/analyses.ts";

const TOO_COMPLEX = "page_too_complex";
const FAILURES: Readonly<Record<Exclude<AnalysisFailure["reason"], "overloaded">, Failed>> = {
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
export async function runAnalysis<Input, Report>(
  net: Net,
  analysis: Analysis<Input, Report>,
  input: NoInfer<Input>,
): Promise<Outcome<Report>> {
  const analysed = await net.analyses.run(analysis, input);
  return analysed.ok ? ok(analysed.report) : analysisFailure(analysed);
}

/** Converts the end of an analysis without a report to a failure of the check. */
function analysisFailure(failure: AnalysisFailure): Failed {
  return failure.reason === "overloaded" ? overloadedBy(failure) : FAILURES[failure.reason];
}

/** Creates the failure of work in a thread that did not get its processor time. */
export function overloadedBy({ isHalfUsed }: Overloaded): Failed {
  const what = "the thread that examines the received data did not get enough processor time";
  return overloaded("response", what, { repeatable: !isHalfUsed });
}

/** Reports whether an outcome is the failure of a page that needs too much time or memory. */
export function isTooComplex(outcome: Outcome<unknown>): boolean {
  return outcome.status === "failed" && outcome.reason === TOO_COMPLEX;
}
