import { createHash } from "node:crypto";
import type { MonitorFault, MonitorPhases, MonitorResult } from "#shared/monitor-checks/define.ts";
import { jsonBytes } from "#probe-agent/analysis/text/json-size.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { Untimed } from "#probe-agent/tools/implement.ts";

/** What a check found at a target that answered. */
interface Finding {
  /** null: the answer is as expected. */
  readonly fault: MonitorFault | null;
  /** Milliseconds. */
  readonly responseMs: number;
  readonly httpStatus: number | null;
  /** null: the check has one phase only. */
  readonly phases: MonitorPhases | null;
  /** DER of the certificate of the target's own host; absent or null if there was none. */
  readonly certificate?: Uint8Array | null;
}

/** Parameters that decide about the whole result. */
export interface ReportParams {
  readonly known: "up" | "down" | null;
  readonly always_whole: boolean;
}

/** A message is one line of at most so many characters. */
const MAX_MESSAGE = 500;
/** Most of the 256 KB of an outcome. A larger whole result is left out, because the verdict must arrive. */
const MAX_WHOLE_BYTES = 240_000;

/** Returns the short result, and the whole result if the verdict changed or if it is asked for. */
export async function answerWith(
  { fault, responseMs, httpStatus, phases, certificate = null }: Finding,
  { known, always_whole }: ReportParams,
  createWhole: () => Promise<unknown>,
): Promise<Untimed<MonitorResult>> {
  const verdict = fault === null ? "up" : "down";
  const whole = always_whole || verdict !== known ? await createWhole() : null;
  return {
    verdict,
    response_ms: responseMs,
    http_status: httpStatus,
    fault: fault === null ? null : { ...fault, message: printable(fault.message, MAX_MESSAGE) },
    phases,
    certificate_fingerprint: certificate === null ? null : createHash("sha256").update(certificate).digest("hex"),
    whole: whole === null || jsonBytes(whole) > MAX_WHOLE_BYTES ? null : whole,
  };
}
