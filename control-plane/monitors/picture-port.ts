import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { CheckFault } from "#control-plane/monitors/state/observation.ts";

/** What the pictures of a visual monitor show. */
export interface PictureFacts {
  readonly accepted: { readonly pictureId: number; readonly at: Date } | null;
  /** `ratio`: percent of the pixels that differ from the accepted picture. */
  readonly latest: {
    readonly pictureId: number;
    readonly at: Date;
    readonly ratio: number;
    /** Shows what differs; null: less than the threshold does. */
    readonly differenceId: number | null;
  } | null;
  /** Why the newest check gave no picture; null: it gave one. */
  readonly fault: CheckFault | null;
}

/** The pictures of visual monitors. Functions with a transaction belong to it. */
export interface PicturePort {
  /** Begins with no picture. `basis`: see visual-basis.ts; pictures taken with another one are dropped. */
  begin(tx: Transaction, monitors: readonly { readonly id: number; readonly basis: string }[]): Promise<void>;
  /** Deletes all pictures of a monitor. */
  remove(tx: Transaction, id: number): Promise<void>;
  /** Accepts the newest picture. Returns false if there is none. */
  accept(tx: Transaction, id: number): Promise<boolean>;
  /** Returns what is known about pictures by monitor; monitors of other check types are missing. */
  facts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, PictureFacts>>;
}

/** A picture that a check has taken. */
export interface TakenPicture {
  readonly monitorId: number;
  readonly accountId: number;
  /** What it was taken with (visual-basis.ts). */
  readonly basis: string;
  readonly location: string;
  readonly takenAt: Date;
  /** PNG as the agent sent it. */
  readonly bytes: Uint8Array;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** What the checks of visual monitors do with their pictures. */
export interface PictureRecorder {
  /**
   * Compares a picture and stores it, with the event if the page has changed, in one transaction. Returns null, or why it
   * could not. A picture whose monitor was changed or deleted meanwhile is dropped. Rejects while the database is away.
   */
  record(taken: TakenPicture): Promise<CheckFault | null>;
  /** Notes why a check gave no picture. */
  noteFault(monitorId: number, fault: CheckFault): Promise<void>;
}
