import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import type { NameOctets } from "#probe-agent/dns-codec/names.ts";

const MAX_MESSAGE_OCTETS = 65_535;
// A pointer has 14 bits for its target (RFC 1035 section 4.1.4).
const MAX_POINTER_TARGET = 0x3fff;

/** Builds a message or RDATA from front to back. Throws DecodeError beyond 65535 octets. */
export class ByteWriter {
  #octets = new Uint8Array(512);
  #length = 0;
  readonly #targets = new Map<string, number>();

  /** Number of octets written so far. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.bytes([value & 0xff]);
  }

  u16(value: number): void {
    this.bytes([(value >>> 8) & 0xff, value & 0xff]);
  }

  u32(value: number): void {
    this.u16(value >>> 16);
    this.u16(value);
  }

  bytes(octets: Uint8Array | readonly number[]): void {
    const end = this.#length + octets.length;
    if (end > MAX_MESSAGE_OCTETS) throw new DecodeError("message is longer than 65535 octets");
    if (end > this.#octets.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.#octets.length));
      grown.set(this.#octets.subarray(0, this.#length));
      this.#octets = grown;
    }
    this.#octets.set(octets, this.#length);
    this.#length = end;
  }

  /**
   * Writes a name. Its longest tail that was already written becomes a pointer. Letter case is kept, so tails must
   * match exactly.
   */
  compressedName(name: NameOctets): void {
    let position = 0;
    for (;;) {
      const length = name[position] ?? 0;
      if (length === 0) return this.u8(0);
      const tail = Buffer.from(name.subarray(position)).toString("latin1");
      const target = this.#targets.get(tail);
      if (target !== undefined) return this.u16(0xc000 | target);
      if (this.#length <= MAX_POINTER_TARGET) this.#targets.set(tail, this.#length);
      this.bytes(name.subarray(position, position + length + 1));
      position += length + 1;
    }
  }

  /** Writes a 16-bit length, followed by what `body` writes. */
  sized16(body: (writer: ByteWriter) => void): void {
    const start = this.#length;
    this.u16(0);
    body(this);
    const size = this.#length - start - 2;
    this.#octets[start] = size >>> 8;
    this.#octets[start + 1] = size & 0xff;
  }

  /** Returns a copy of the written octets. */
  finish(): Uint8Array {
    return this.#octets.slice(0, this.#length);
  }
}
