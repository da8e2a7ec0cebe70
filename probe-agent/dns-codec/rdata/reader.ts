import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { lowerName, readName, type NameOctets } from "#probe-agent/dns-codec/names.ts";

/** Error for a name inside RDATA that cannot be read. The whole message cannot be trusted then. */
export class RdataNameError extends DecodeError {}

/** Reads one record's RDATA, and keeps a copy with all names expanded. Throws DecodeError past the end of the RDATA. */
export class RdataReader {
  readonly #message: Uint8Array;
  readonly #end: number;
  readonly #lowerNames: boolean;
  readonly #expanded: Uint8Array[] = [];
  #position: number;
  #copied: number;

  /** `lowerNames` makes `expanded()` return the canonical form of RFC 4034 section 6.2. */
  constructor(message: Uint8Array, start: number, end: number, lowerNames = false) {
    this.#message = message;
    this.#position = start;
    this.#copied = start;
    this.#end = end;
    this.#lowerNames = lowerNames;
  }

  /** Number of octets not read so far. */
  get left(): number {
    return this.#end - this.#position;
  }

  u8(): number {
    return this.take(1)[0] ?? 0;
  }

  u16(): number {
    return this.u8() * 0x100 + this.u8();
  }

  u32(): number {
    return this.u16() * 0x1_0000 + this.u16();
  }

  /** Returns a view of the next octets. */
  take(count: number): Uint8Array {
    if (count > this.left) throw new DecodeError("RDATA is shorter than its fields");
    const taken = this.#message.subarray(this.#position, this.#position + count);
    this.#position += count;
    return taken;
  }

  /** Returns a view of all remaining octets. */
  rest(): Uint8Array {
    return this.take(this.left);
  }

  /** Reads a name, compressed or not. RFC 3597 section 4 requires both for the types that once allowed compression. */
  name(): NameOctets {
    if (this.left === 0) throw new DecodeError("RDATA is shorter than its fields");
    const read = this.#readName();
    if (read.next > this.#end) throw new RdataNameError("name runs past the end of its RDATA");
    this.#expanded.push(
      this.#message.slice(this.#copied, this.#position),
      this.#lowerNames ? lowerName(read.name) : read.name,
    );
    this.#position = read.next;
    this.#copied = read.next;
    return read.name;
  }

  /** Returns everything read so far, with names expanded. */
  expanded(): Uint8Array {
    const tail = this.#message.slice(this.#copied, this.#position);
    return this.#expanded.length === 0 ? tail : new Uint8Array(Buffer.concat([...this.#expanded, tail]));
  }

  #readName(): ReturnType<typeof readName> {
    try {
      return readName(this.#message, this.#position);
    } catch (error) {
      throw error instanceof DecodeError ? new RdataNameError(error.message) : error;
    }
  }
}
