import type { IgnoredRegion } from "#control-plane/outages/kinds/visual.ts";

/** Pictures to verify or to compare in the thread. */
export interface CompareOrder {
  /** A PNG as an agent sent it. */
  readonly taken: Uint8Array;
  /** The picture to compare it with; null if it is only verified. */
  readonly accepted: Uint8Array | null;
  readonly ignored: readonly IgnoredRegion[];
  /** Whether to make the picture of the difference if more than this differs, percent; null: never. */
  readonly showAbove: number | null;
}

/** Answer of the thread. invalid: `taken` is no picture. */
export type CompareAnswer =
  | { readonly kind: "invalid" }
  | {
      readonly kind: "compared";
      /** Percent of the pixels; 0 if it was only verified. */
      readonly ratio: number;
      /** PNG of the difference; null: not asked for, or it is too large. */
      readonly difference: { readonly bytes: Uint8Array; readonly width: number; readonly height: number } | null;
    };
