import type { CheckError } from "#control-plane/checks/answer.ts";

/** The right to write for a run. `run` numbers the claims of it; the store refuses writes of an earlier claim. */
export interface RunLease {
  readonly id: string;
  readonly run: number;
}

/** A run as a claim returns it. */
export interface ClaimedRun extends RunLease {
  /** Time at which an attempt first found no probe for an open unit; null if that has not happened. */
  readonly waitingSince: Date | null;
}

/** A valid unit for which this attempt got no answer, because this replica had no probe available. */
export interface Unanswered<U> {
  readonly unit: U;
  readonly error: CheckError;
}

/** Options for the writes of an attempt. */
export interface Writing {
  /** Aborted when this process stops; writes then no longer wait for the database. */
  readonly signal: AbortSignal;
  /** Called when the store refuses a write: the run was cancelled, erased or claimed again. */
  readonly onLost: () => void;
}

/** One attempt at the units of a run that have no result yet. U is one unit: a target, a location, a section. */
export interface Attempt<U> {
  /** Groups of units that are performed together. Groups start in this order and run concurrently. */
  readonly groups: readonly (readonly U[])[];
  /** Performs the units of a group and records each result as it arrives. Resolves to the units without an answer. */
  perform(group: readonly U[], signal: AbortSignal): Promise<readonly Unanswered<U>[]>;
  /** Records the failure of a unit that has waited long enough. */
  giveUp(unanswered: Unanswered<U>): void;
  /** Resolves when everything recorded is stored; to false if the run no longer belongs to this claim. */
  settle(): Promise<boolean>;
}

/** One kind of durable work: how its runs are claimed, how their units are performed, and where results are stored. */
export interface DurableWork<W extends ClaimedRun, U> {
  /** Claims the run, also from another claim. Returns null if it has ended or is deleted. */
  claim(id: string, now: Date): Promise<W | null>;
  /** Opens an attempt at the units without a result. */
  begin(run: W, writing: Writing): Promise<Attempt<U>>;
  /** Stores since when units wait for a probe. A later call does not change that time. */
  postpone(lease: RunLease, now: Date): Promise<void>;
  /** Ends the run if every unit has a result and the claim is still valid; otherwise does nothing. */
  finish(lease: RunLease, now: Date): Promise<void>;
}
