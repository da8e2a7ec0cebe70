/** Width and height in pixels. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Reader of numbers at any position. Returns null beyond the end, so that files that are cut off or wrong are safe. */
export interface Octets {
  readonly length: number;
  uint8(at: number): number | null;
  uint16(at: number): number | null;
  uint32(at: number): number | null;
  littleUint16(at: number): number | null;
  littleUint24(at: number): number | null;
  littleUint32(at: number): number | null;
  /** Returns one character per octet. The text is shorter if the file ends before. */
  text(at: number, length: number): string;
}

/** Returns a reader of bytes. */
export function octetsOf(bytes: Uint8Array): Octets {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const within = (at: number, size: number): boolean => at >= 0 && at + size <= bytes.byteLength;
  return {
    length: bytes.byteLength,
    uint8: (at) => (within(at, 1) ? view.getUint8(at) : null),
    uint16: (at) => (within(at, 2) ? view.getUint16(at) : null),
    uint32: (at) => (within(at, 4) ? view.getUint32(at) : null),
    littleUint16: (at) => (within(at, 2) ? view.getUint16(at, true) : null),
    littleUint24: (at) => (within(at, 3) ? view.getUint16(at, true) + view.getUint8(at + 2) * 65_536 : null),
    littleUint32: (at) => (within(at, 4) ? view.getUint32(at, true) : null),
    text: (at, length) => (at < 0 ? "" : String.fromCharCode(...bytes.subarray(at, at + Math.min(length, 1024)))),
  };
}
