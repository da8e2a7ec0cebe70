import type { CheckError } from "#control-plane/checks/answer.ts";

/** The right to write for a run. `run` counts the claims: what an earlier claim still writes is refused by the store. */
export interface RunLease {
  readonly id: string;
  readonly run: number;
}

/** A run as a claim returns it. */
export interface ClaimedRun extends RunLease {
  /** When an attempt first found no probe for what is left; null: none has. */
  readonly waitingSince: Date | null;
}

/** A unit that this attempt could not get an answer for, although the unit is sound: no probe was available here. */
export interface Unanswered<U> {
  readonly unit: U;
  readonly error: CheckError;
}

/** How an attempt writes. */
export interface Writing {
  /** Aborted when this process stops: waiting for the database ends. */
  readonly signal: AbortSignal;
  /** To be called when the store refuses a write: the run was cancelled or erased, or another claim has it. */
  readonly onLost: () => void;
}

/** One attempt at the units of a run that have no result yet. U is one unit: a target, a location, a section. */
export interface Attempt<U> {
  /** Units that are done together. Groups run side by side, in this order. */
  readonly groups: readonly (readonly U[])[];
  /** Does the units of a group and records each result as it comes; resolves to the units without an answer. */
  perform(group: readonly U[], signal: AbortSignal): Promise<readonly Unanswered<U>[]>;
  /** Records the failure of a unit that has waited long enough. */
  giveUp(unanswered: Unanswered<U>): void;
  /** Resolves when everything recorded is stored; false: the store refused it, the run is no longer this claim's. */
  settle(): Promise<boolean>;
}

/** One kind of durable work: what a run of it is, how its units are done, and where its results are stored. */
export interface DurableWork<W extends ClaimedRun, U> {
  /** Takes the run from any other claim. null: it has ended, or is gone. */
  claim(id: string, now: Date): Promise<W | null>;
  /** Opens an attempt at the units without a result. */
  begin(run: W, writing: Writing): Promise<Attempt<U>>;
  /** Notes since when units wait for a probe; a later call does not move that time. */
  postpone(lease: RunLease, now: Date): Promise<void>;
  /** Ends the run if every unit has a result and the claim still holds; else does nothing. */
  finish(lease: RunLease, now: Date): Promise<void>;
}
