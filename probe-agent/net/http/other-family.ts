import { connectTo, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Address, ConnectAttempt } from "#probe-agent/port/address.ts";

/**
 * Maximum wait for the other family in milliseconds: 1 s until the kernel repeats a lost SYN (RFC 6298 section 2), and
 * 0.5 s for the answer.
 */
const PATIENCE_MS = 1500;
/** Part of the job's time reserved for later steps, in milliseconds. */
const RESERVE_MS = 250;

/** A trial connection and a function that cancels it. */
export interface TrialConnection {
  /** Resolves to null if the time was too short for a result, or if the rules refused the peer. */
  readonly attempt: Promise<ConnectAttempt | null>;
  cancel(): void;
}

/**
 * Starts one connection to the first address of a family that was not tried; null if there is none. The connection is
 * closed as soon as it is open.
 */
export function tryOtherFamily(
  { allowed, attempts }: { readonly allowed: readonly Address[]; readonly attempts: readonly ConnectAttempt[] },
  port: number,
  limits: DialLimits,
): TrialConnection | null {
  const tried = new Set(attempts.map(({ address }) => address.version));
  const address = allowed.find(({ version }) => !tried.has(version));
  if (address === undefined) return null;
  const own = new AbortController();
  const signal = AbortSignal.any([limits.signal, own.signal]);
  return { attempt: tryOnce(address, port, { ...limits, signal }), cancel: () => own.abort() };
}

async function tryOnce(address: Address, port: number, limits: DialLimits): Promise<ConnectAttempt | null> {
  const startedAt = limits.clock.monotonic();
  const patience = Math.min(PATIENCE_MS, limits.deadline - startedAt - RESERVE_MS);
  if (patience <= 0) return null;
  const outcome = await connectTo(address, port, patience, limits);
  const ms = limits.clock.monotonic() - startedAt;
  if (outcome.status === "ok") {
    outcome.data.destroy();
    return { address, failure: null, ms };
  }
  if (outcome.status !== "failed") return null;
  // A wait that the job's end shortened proves nothing about the target.
  const cut = outcome.reason === "timeout" && (patience < PATIENCE_MS || limits.signal.aborted);
  return cut ? null : { address, failure: outcome, ms };
}
