import type { Logger } from "pino";
import { failed, type Outcome } from "#shared/outcome.ts";
import { MAX_RESULT_BYTES } from "#shared/wire.ts";
import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { Net, ProgressEvent } from "#probe-agent/net/port.ts";
import { implementations } from "#probe-agent/tools/index.ts";

/** One job as it came over the wire. */
export interface Job {
  readonly tool: string;
  /** JSON of parameters the control plane has parsed; defaults are filled in. */
  readonly params: string;
}

/** Builds the Net of one job. */
export type NetFactory = (limits: JobLimits, emit: (event: ProgressEvent) => void) => Net;

/** Whether this agent has the tool at all. */
export function canRun(tool: string): boolean {
  return implementations.has(tool);
}

/**
 * Job to contract to implementation to outcome, as JSON of at most 256 KB. Ends at the deadline whatever the
 * implementation does: the limits' signal aborts it, and its word is no longer waited for.
 */
export async function runJob(
  job: Job,
  limits: JobLimits,
  createNet: NetFactory,
  emit: (event: ProgressEvent) => void,
  log: Logger,
): Promise<string> {
  const outcome = await Promise.race([execute(job, createNet(limits, emit), log), aborted(limits.signal)]);
  const text = JSON.stringify(outcome);
  if (Buffer.byteLength(text) <= MAX_RESULT_BYTES) return text;
  return JSON.stringify(failed("response", "target", "result_too_large", "what the target sent does not fit a result"));
}

async function execute(job: Job, net: Net, log: Logger): Promise<Outcome<unknown>> {
  const implementation = implementations.get(job.tool);
  if (implementation === undefined) return failed("request", "probe", "incapable", "this probe does not know the tool");
  try {
    return await implementation.run(net, JSON.parse(job.params) as never);
  } catch (error) {
    if (!net.signal.aborted) log.error({ err: error, tool: job.tool }, "tool broke");
    return failed("request", "probe", "internal", "the probe failed to run the check");
  }
}

/** Implementations stop within a moment of the signal and know the stage best: they get that moment. */
const ABORT_GRACE_MS = 100;

function aborted(signal: AbortSignal): Promise<Outcome<unknown>> {
  return new Promise((resolve) => {
    const late = () => {
      setTimeout(() => resolve(failed("response", "target", "timeout", "no answer by the deadline")), ABORT_GRACE_MS);
    };
    if (signal.aborted) late();
    else signal.addEventListener("abort", late, { once: true });
  });
}
