import type { Readable } from "node:stream";

/** The octets of a stream, in order. */
export interface Arrivals {
  /** Returns the next octets; null at the end. Rejects with the stream's error, after all octets before it. */
  next(): Promise<Buffer | null>;
}

/** Maximum number of octets buffered before the stream is paused. */
const MAX_HELD_BYTES = 1 << 20;

/**
 * Starts to read a stream. A stream that an error destroys drops its buffer, and so does its iterator: of a response
 * and a reset that arrive together, only the error would remain. Here the octets come first.
 */
export function createArrivals(stream: Readable): Arrivals {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let ended = stream.destroyed;
  let error: Error | null = stream.errored;
  let wake: (() => void) | null = null;
  const arrive = (): void => {
    wake?.();
    wake = null;
  };
  const end = (): void => {
    ended = true;
    arrive();
  };
  stream.on("data", (chunk: Buffer) => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes > MAX_HELD_BYTES) stream.pause();
    arrive();
  });
  // The listener stays for the life of the stream: a late error without one would end the process.
  stream.on("error", (reason: Error) => {
    error ??= reason;
    end();
  });
  stream.once("end", end).once("close", end);
  return {
    async next() {
      for (;;) {
        const chunk = held.shift();
        if (chunk !== undefined) {
          heldBytes -= chunk.length;
          if (stream.isPaused() && heldBytes === 0) stream.resume();
          return chunk;
        }
        if (error !== null) throw error;
        if (ended) return null;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
