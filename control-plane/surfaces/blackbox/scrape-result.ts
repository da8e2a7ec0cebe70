import type { Outcome } from "#shared/contracts/outcome.ts";
import type { CheckAnswer, CheckError, Location } from "#control-plane/checks/answer.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { queryFieldOf } from "#control-plane/surfaces/blackbox/read-scrape.ts";
import { targetFailure, type Cause } from "#control-plane/surfaces/blackbox/module.ts";
import type { Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";

/** Result of a scrape: data, or the failure of the target. */
export type ScrapeResult =
  | { readonly kind: "data"; readonly data: unknown; readonly where: readonly Sample[] }
  | { readonly kind: "failed"; readonly where: readonly Sample[] };

/**
 * Reads the answer of a check. Failures of the target are a result; our own are thrown as Refusal. `late`: the scrape
 * timeout was reached, so a cancelled check counts as a timeout of the target.
 */
export function readAnswer(answer: CheckAnswer, late: boolean): ScrapeResult {
  if (answer.kind === "cancelled" && late) {
    return { kind: "failed", where: causeSamples(targetFailure("response", "scrape_timeout")) };
  }
  if (answer.kind === "single") return readOutcome(answer.outcome, answer.location);
  if (answer.kind === "problem") {
    throw refuseField({ ...answer.problem, field: queryFieldOf(answer.problem.field) });
  }
  const answered = refuseUnanswered(answer);
  if (answered.kind !== "multi") throw new Error("a scrape is never a dry run");
  const [row, more] = answered.data.locations;
  if (row === undefined || more !== undefined) {
    const message = "must match exactly one probe: Prometheus reads one result per scrape";
    throw new Refusal("missing_parameter", { field: "region", reason: "range", message });
  }
  if (row.status === "ok") return { kind: "data", data: row.data, where: probeSamples(row.location) };
  return readError(row.error, row.location);
}

function readOutcome(outcome: Outcome<unknown>, location: Location): ScrapeResult {
  if (outcome.status === "ok") return { kind: "data", data: outcome.data, where: probeSamples(location) };
  if (outcome.status !== "failed" || outcome.source === "probe") {
    refuseUnanswered({ kind: "single", outcome, location, cached: false });
    throw new Error("refuseUnanswered returned for an outcome that is not ok");
  }
  return { kind: "failed", where: [...causeSamples(outcome), ...probeSamples(location)] };
}

function readError(error: CheckError, location: Location): ScrapeResult {
  const { code, stage, source, reason, message } = error;
  if (code !== "request_failed" || source === "probe" || stage === undefined || source === undefined) {
    // A failure of the probe is not a fact about the target: the scrape fails.
    throw new Refusal(code === "request_failed" ? "probe_unavailable" : code, {
      message,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  return {
    kind: "failed",
    where: [...causeSamples({ stage, source, reason: reason ?? "unknown" }), ...probeSamples(location)],
  };
}

/** Returns the series with the cause of a failure. */
export function causeSamples({ stage, source, reason }: Cause): readonly Sample[] {
  return [
    {
      name: "vantage_probe_failure_info",
      help: "Cause of the failure: the stage it reached, the party that failed, and the reason",
      labels: { stage, source, reason },
      value: 1,
    },
  ];
}

function probeSamples({ region, probe_id: probe, country, asn }: Location): readonly Sample[] {
  return [
    {
      name: "vantage_probe_info",
      help: "Probe that ran the check",
      labels: { region, probe_id: probe, country: country ?? "", asn: asn === null ? "" : String(asn) },
      value: 1,
    },
  ];
}
