import type { Principal } from "#control-plane/http/access/principal.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import type { Plan } from "#control-plane/core/plans.ts";

/** Receives the owner of a key, or null for an unknown key; or an error if the database did not answer. */
export type KeyFoundCallback = (error: Error | null, principal: Principal | null) => void;

/** Finds the owner of a presented key. */
export interface KeyFinder {
  /**
   * Calls `found` once: immediately if the owner is cached, else after a statement shared with all waiting requests.
   */
  find(presented: string, found: KeyFoundCallback): void;
}

/**
 * Receives the state of the account's limits; or an error if the database did not answer, and the request must stop.
 */
export type CountedCallback = (error: Error | null, state: LimitState | null) => void;

/** Which limits a request counts against. */
export type LimitKind = "minute-and-day" | "minute";

/** Counts the requests of accounts. */
export interface Limiter {
  /** Counts one request of an account. Calls `counted` once, always asynchronously. */
  take(accountId: number, plan: Plan, kind: LimitKind, counted: CountedCallback): void;
}

/** State of a client address's limit after one call. */
interface AddressLimitState {
  readonly ok: boolean;
  /** Number of calls left in the window. */
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetsAt: number;
  /** Seconds to wait, at least 1, as in Retry-After. */
  readonly retryAfterSeconds: number;
}

/** Counts calls of each client address in fixed UTC windows, in this process only. */
export interface AddressLimiter {
  /** Counts one call. A refused call is not counted. */
  take(address: string): AddressLimitState;
  /** Reports whether the next call would be refused. Counts nothing. */
  isExhausted(address: string): boolean;
}
