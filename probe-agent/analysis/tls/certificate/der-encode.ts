import { TAG } from "#probe-agent/analysis/tls/certificate/der.ts";

/** Encodes a DER value: identifier octet, minimal length, contents (X.690 section 8.1). */
export function encodeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(tag), lengthOctets(length), ...contents]);
}

/** Encodes a SEQUENCE of encoded values. */
export function encodeSequence(...values: readonly Uint8Array[]): Uint8Array {
  return encodeDer(TAG.sequence, ...values);
}

/** Encodes an OBJECT IDENTIFIER from dotted text. */
export function encodeOid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return encodeDer(TAG.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(arcOctets)));
}

function arcOctets(arc: number): number[] {
  const octets = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) octets.unshift((left % 128) + 128);
  return octets;
}

function lengthOctets(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return Uint8Array.of(0x80 + octets.length, ...octets);
}
