import { connectTo, type DialLimits } from "#probe-agent/net/http/dial.ts";
import type { Address, ConnectAttempt } from "#probe-agent/port/address.ts";

/**
 * How long the other family may take, milliseconds: a second until the kernel sends a lost SYN again (RFC 6298 section
 * 2), and half of one for the answer.
 */
const PATIENCE_MS = 1500;
/** Left of the job's time for what follows, milliseconds. */
const RESERVE_MS = 250;

/** One connection on trial, and how to give it up. */
export interface Trial {
  /** Null where there was not the time to tell, or the rules refused the peer. */
  readonly attempt: Promise<ConnectAttempt | null>;
  cancel(): void;
}

/**
 * Begins one connection to the first address of a family of which none was tried; null where there is none. It is
 * closed as soon as it stands.
 */
export function tryOtherFamily(
  { allowed, attempts }: { readonly allowed: readonly Address[]; readonly attempts: readonly ConnectAttempt[] },
  port: number,
  limits: DialLimits,
): Trial | null {
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
  // A silence that the job's end cut short is none of the target's.
  const cut = outcome.reason === "timeout" && (patience < PATIENCE_MS || limits.signal.aborted);
  return cut ? null : { address, failure: outcome, ms };
}
