import {
  HTTP_STATUS_RANGE,
  MOST_CHECK_MS,
  type MonitorPhases,
  type MonitorResult,
} from "#shared/monitor-checks/define.ts";
import type { CheckAnswer, CheckError, LocationRow } from "#control-plane/checks/answer.ts";
import type { CheckFault, Observation } from "#control-plane/outages/state/state.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** What a check of a monitor found, with what is recorded beside its verdict. */
export interface Finding {
  readonly verdict: Observation["verdict"];
  readonly responseMs: number | null;
  readonly httpStatus: number | null;
  /** Parts of responseMs; null: not measured. */
  readonly phases: MonitorPhases | null;
  readonly fault: CheckFault | null;
  /** Fingerprint of the certificate of the target's own host; null if there was none. */
  readonly fingerprint: string | null;
  /** Result of the matching tool; null if the agent sent none. */
  readonly whole: unknown;
}

/** Fault of a planned check that no probe could run. */
const NO_PROBE: CheckFault = {
  stage: "request",
  source: "probe",
  reason: "no_probe",
  message: "no probe is online for this location",
};

/** Converts the answer of a check at one location; null if the check was cancelled, so that nothing is known. */
export function readFinding(answer: CheckAnswer): Finding | null {
  switch (answer.kind) {
    case "multi": {
      const [row] = answer.data.locations;
      return row === undefined ? unknown(NO_PROBE) : readRow(row);
    }
    case "refused":
      return down(REFUSED_TARGET);
    case "cancelled":
      return null;
    case "unavailable":
      return unknown({ ...NO_PROBE, reason: answer.reason });
    default:
      return unknown({ ...NO_PROBE, reason: "not_run", message: "the check could not be run with these settings" });
  }
}

/** The finding of a schedule entry that no probe can serve. */
export const NO_AGENT: Finding = unknown(NO_PROBE);

/** The finding of a check whose result cannot be recorded. */
export const UNRECORDABLE: Finding = unknown({
  stage: "response",
  source: "probe",
  reason: "invalid_result",
  message: "the result of the probe could not be recorded",
});

const REFUSED_TARGET: CheckFault = {
  stage: "connect",
  source: "target",
  reason: "target_not_allowed",
  message: "the target is not allowed: it is not on the public internet",
};

/** Limits of the texts of a fault, in characters: those of the contract. */
const MOST_REASON = 100;
const MOST_MESSAGE = 500;

/**
 * Reads the result of a check. The contract has limits for all of it; they are applied again, because a value beyond them
 * would make the statement fail that records the checks of all accounts.
 */
function readRow(row: LocationRow): Finding {
  if (row.status === "failed") return readError(row.error);
  const result = row.data as MonitorResult;
  const { verdict, response_ms, http_status, fault, phases, whole } = result;
  return {
    verdict,
    responseMs: Math.round(Math.min(response_ms, MOST_CHECK_MS)),
    httpStatus: readStatus(http_status),
    phases: phases ?? null,
    fault: fault === null ? null : readFault(fault),
    fingerprint: result.certificate_fingerprint ?? null,
    whole,
  };
}

function readStatus(status: number | null): number | null {
  const { minimum, maximum } = HTTP_STATUS_RANGE;
  return status !== null && status >= minimum && status <= maximum ? status : null;
}

function readFault({ stage, reason, message }: NonNullable<MonitorResult["fault"]>): CheckFault {
  const texts = { reason: toPlainLine(reason, MOST_REASON), message: toPlainLine(message, MOST_MESSAGE) };
  return { stage, source: "target", ...texts };
}

/** Parties whose failure says nothing about the target: the probe, and an outside source such as a registry. */
const NOT_OF_TARGET: ReadonlySet<string> = new Set(["probe", "service"]);

/** A target that gave no answer is down; if another party failed, or there was no probe, nothing is known about it. */
function readError({ code, stage = "request", source = "probe", reason = "not_run", message }: CheckError): Finding {
  if (code === "target_not_allowed") return down(REFUSED_TARGET);
  const fault: CheckFault = { stage, source, reason, message };
  return code === "request_failed" && !NOT_OF_TARGET.has(source) ? down(fault) : unknown(fault);
}

/** Returns the finding of a check that was judged without a probe. */
export function judgedFinding(verdict: Finding["verdict"], fault: CheckFault | null): Finding {
  return { verdict, responseMs: null, httpStatus: null, fault, phases: null, fingerprint: null, whole: null };
}

function down(fault: CheckFault): Finding {
  return judgedFinding("down", fault);
}

function unknown(fault: CheckFault): Finding {
  return judgedFinding("unknown", fault);
}
