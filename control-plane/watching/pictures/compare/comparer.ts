import type { CompareAnswer, CompareOrder } from "#control-plane/watching/pictures/compare/messages.ts";
import { createThread, type NoAnswer, type Thread } from "#control-plane/core/thread.ts";

/** What became of an order. */
export type Compared = CompareAnswer | NoAnswer;

/** Compares pictures in a thread, one order after the other. */
export type Comparer = Thread<CompareOrder, CompareAnswer>;

/** Limits of a comparer. */
interface ComparerOptions {
  /** Maximum duration of an order, in milliseconds. */
  readonly mostMs?: number;
  /** Maximum number of waiting orders. Each holds a picture of up to 4 MB. */
  readonly mostWaiting?: number;
}

/** Two pictures of the largest size take 3 s; the rest is a reserve for a busy machine. */
const MOST_MS = 30_000;
const MOST_WAITING = 32;
/** Heap of the thread, in megabytes. The pixels are outside of it, and their number is limited. */
const HEAP_MB = 256;

/** Creates a comparer. Its thread starts with the first order. */
export function createComparer({ mostMs = MOST_MS, mostWaiting = MOST_WAITING }: ComparerOptions = {}): Comparer {
  return createThread({ program: new URL("main.ts", import.meta.url), mostMs, mostWaiting, heapMb: HEAP_MB });
}
