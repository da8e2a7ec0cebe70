import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { CheckFault } from "#control-plane/state/observation.ts";

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
