import type { Readable } from "node:stream";

/** The first part of a body. */
export interface BodyStart {
  readonly bytes: Buffer;
  /** Whether the body is longer. */
  readonly isTruncated: boolean;
}

/** Maximum number of bytes of a body that are kept (10 KB). */
const KEPT_BYTES = 10_240;

/**
 * Reads the first bytes of a body. It does not wait for the rest of a longer one, which the server discards before it
 * answers. Rejects if the client disconnects earlier.
 */
export function readBodyStart(body: Readable): Promise<BodyStart> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      body.off("data", add).off("end", end).off("error", fail).off("close", cut);
    };
    const end = (): void => {
      stop();
      const all = Buffer.concat(chunks);
      resolve({ bytes: all.subarray(0, KEPT_BYTES), isTruncated: all.length > KEPT_BYTES });
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const cut = (): void => fail(new Error("the client disconnected"));
    const add = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= KEPT_BYTES) return;
      body.pause();
      end();
    };
    body.on("data", add).on("end", end).on("error", fail).on("close", cut);
  });
}
