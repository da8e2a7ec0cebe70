/** Reads a stream of bytes in parts of the reader's choice. */
export interface ByteReader {
  /** Returns the next `count` bytes without taking them; fewer at the end. */
  peek(count: number): Promise<Buffer>;
  /** Takes the next `count` bytes; fewer at the end. */
  read(count: number): Promise<Buffer>;
  /** Takes the next `count` bytes in pieces as they arrive; fewer at the end. */
  pieces(count: number): AsyncGenerator<Buffer>;
}

/** Creates a reader that holds what `read` or `peek` asks for and one piece of the source. */
export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function fill(count: number): Promise<void> {
    const parts: Buffer[] = [held];
    for (let length = held.length; length < count;) {
      const next = await iterator.next();
      if (next.done === true) break;
      parts.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      length += next.value.length;
    }
    if (parts.length > 1) held = Buffer.concat(parts);
  }

  function take(count: number): Buffer {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  }

  return {
    async peek(count) {
      await fill(count);
      return held.subarray(0, count);
    },
    async read(count) {
      await fill(count);
      return take(count);
    },
    async *pieces(count) {
      for (let left = count; left > 0;) {
        await fill(1);
        if (held.length === 0) return;
        const piece = take(left);
        left -= piece.length;
        yield piece;
      }
    },
  };
}
