import type { Principal } from "#control-plane/access/principal.ts";
import type { Verdict } from "#control-plane/access/verdict.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** Receives the owner of a key, null for an unknown key; or an error where the database did not answer. */
export type Found = (error: Error | null, principal: Principal | null) => void;

/** Finds the owner of a presented key. */
export interface KeyFinder {
  /** Calls `found` once: at once where the answer is known, else after a statement shared with all waiting requests. */
  find(presented: string, found: Found): void;
}

/** Receives the state of the account's limits; or an error where the database did not answer: the request must stop. */
export type Counted = (error: Error | null, verdict: Verdict | null) => void;

/** Which limits a request counts against. */
export type Kind = "minute-and-day" | "minute";

/** Counts the requests of accounts. */
export interface Limiter {
  /** Counts one request of an account; calls `counted` once, always later. */
  take(accountId: number, plan: Plan, kind: Kind, counted: Counted): void;
}

/** The state of a client address's limit after one call. */
interface AddressVerdict {
  readonly ok: boolean;
  /** Calls left in the window after this one. */
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetsAt: number;
  /** Whole seconds to wait, at least 1; for Retry-After. */
  readonly retryAfterSeconds: number;
}

/** Counts calls per client address in fixed UTC windows, in this process only. */
export interface AddressLimiter {
  /** Counts one call; a refused one consumes nothing. */
  take(address: string): AddressVerdict;
  /** Whether the next call would be refused; counts nothing. */
  isExhausted(address: string): boolean;
}
