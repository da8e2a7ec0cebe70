import { parseExact } from "#shared/json/exact.ts";
import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import { failed, overloaded, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { MAX_ARTIFACT_BYTES, MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Net, ProgressEvent } from "#probe-agent/toolkit/net.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";
import { isMonitorCheck } from "#probe-agent/monitor-checks/list.ts";
import type { LoopWatch } from "#probe-agent/loop-watch.ts";
import { blameOverload } from "#probe-agent/overload.ts";
import type { Implementation, JobInput } from "#probe-agent/tools/implement.ts";

/** One job as received. */
export interface Job {
  readonly tool: string;
  /** JSON of the parameters. The control plane has parsed them and added defaults. */
  readonly params: string;
  /** JSON that the control plane adds (contract.input); empty if there is none. */
  readonly input: string;
}

/** Builds the Net of one job, after loading its code for the first one. `onFile` gets the file to send with its result. */
export type NetFactory = (
  limits: JobLimits,
  emit: (event: ProgressEvent) => void,
  onFile?: (bytes: Uint8Array) => void,
) => Net | Promise<Net>;

/** Returns the part of a job's time that is kept for the test of the agent's own network, in milliseconds. */
export async function loadReservedMs(tool: string): Promise<number> {
  return (await loadImplementation(tool))?.contract.reserveMs ?? 0;
}

/** Corrects the source of a failure by the state of the agent's own network, within `remainingMs` milliseconds. */
export type CorrectSource = (failure: Failed, job: Job, remainingMs: number) => Promise<Failed>;

/** Dependencies of every job. */
interface JobTools {
  /** Part of the job's time after the deadline of its limits, in milliseconds. */
  readonly reservedMs: number;
  /** When the job arrived (monotonic clock). */
  readonly receivedAt: number;
  readonly createNet: NetFactory;
  readonly correctSource: CorrectSource;
  readonly loop: LoopWatch;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
}

/** Result of a job: the message to send, and its kind for the metrics. */
interface JobEnd {
  /** JSON of at most 256 KB. */
  readonly outcome: string;
  readonly result: Outcome<unknown>["status"] | "too_large";
  /** File to send before the outcome; null: none. */
  readonly file: Uint8Array | null;
  /** Duration without the preparation, in milliseconds. */
  readonly elapsedMs: number;
}

/**
 * Runs a job and returns its outcome. Returns at the deadline even if the implementation does not: the signal of the
 * limits aborts it, and its outcome is ignored.
 */
export async function runJob(
  job: Job,
  limits: JobLimits,
  { reservedMs: reserved, receivedAt, createNet, correctSource, loop, clock, log }: JobTools,
  emit: (event: ProgressEvent) => void,
): Promise<JobEnd> {
  const endWatch = loop.start();
  let file: Uint8Array | null = null;
  // A slow resolver alone makes no outage: the look-up may take all of the time that a monitor gives its target.
  const lookUps = isMonitorCheck(job.tool) ? { lookUpMs: Infinity } : {};
  const net = await createNet({ ...limits, ...lookUps }, emit, (bytes) => {
    file = bytes;
  });
  const implementation = await loadImplementation(job.tool);
  await implementation?.prepare?.(net);
  const startedAt = clock.monotonic();
  const timeout = createTimeout(limits.signal);
  const isLate = startedAt - receivedAt > limits.deadline - startedAt;
  const ended = isLate
    ? overloaded("request", "preparing for the check took more than half of its time", { repeatable: true })
    : await Promise.race([execute(implementation, job, net, log), timeout.outcome]);
  const first = blameOverload(ended, endWatch());
  timeout.forget();
  const remainingMs = limits.deadline + reserved - clock.monotonic();
  const outcome = first.status === "failed" ? await correctSource(first, job, remainingMs) : first;
  const elapsedMs = clock.monotonic() - startedAt;
  const text = JSON.stringify(outcome);
  if (Buffer.byteLength(text) > MAX_RESULT_BYTES) return tooLarge("the result is larger than 256 KB", elapsedMs);
  const sent = outcome.status === "ok" ? readFile(file) : null;
  if (sent !== null && sent.length > MAX_ARTIFACT_BYTES)
    return tooLarge("the file of the result is larger than 4 MB", elapsedMs);
  return { outcome: text, result: outcome.status, file: sent, elapsedMs };
}

function tooLarge(message: string, elapsedMs: number): JobEnd {
  const outcome = failed("response", "target", "result_too_large", message);
  return { outcome: JSON.stringify(outcome), result: "too_large", file: null, elapsedMs };
}

/** Returns its argument: TypeScript does not see that a callback has set the variable. */
function readFile(file: Uint8Array | null): Uint8Array | null {
  return file;
}

async function execute(
  implementation: Implementation | undefined,
  job: Job,
  net: Net,
  log: Logger,
): Promise<Outcome<unknown>> {
  if (implementation === undefined) return failed("request", "probe", "incapable", "this probe does not have the tool");
  try {
    return await implementation.run(net, parseExact(job.params, "value") as never, readInput(job));
  } catch (error) {
    if (!net.signal.aborted) log.error({ err: error, tool: job.tool }, "tool failed with an unexpected error");
    return failed("request", "probe", "internal", "the probe failed to run the check");
  }
}

function readInput({ input }: Job): JobInput {
  return input === "" ? {} : (JSON.parse(input) as JobInput);
}

/**
 * Time for an implementation to return after the signal, in milliseconds. It is given because the implementation knows
 * the failed stage.
 */
const ABORT_GRACE_MS = 100;

/** Creates the outcome of a job that still runs after this time. `forget` ends the wait for it. */
function createTimeout(signal: AbortSignal): { readonly outcome: Promise<Outcome<unknown>>; forget(): void } {
  const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    const giveUp = () => resolve(failed("response", "target", "timeout", "no answer by the deadline"));
    timer = setTimeout(giveUp, ABORT_GRACE_MS);
  };
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  return {
    outcome: promise,
    forget() {
      signal.removeEventListener("abort", wait);
      clearTimeout(timer);
    },
  };
}
