/** A DER value (X.690): one-octet tag, definite length, contents. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOctets(body.length), body]);
}

/** SEQUENCE of the given values. */
export function sequence(...items: readonly Uint8Array[]): Uint8Array {
  return der(0x30, ...items);
}

/** INTEGER of a small non-negative number. */
export function integer(value: number): Uint8Array {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** IA5 text under any tag, e.g. [2] dNSName of a GeneralName. */
export function ascii(tag: number, text: string): Uint8Array {
  return der(tag, Buffer.from(text, "latin1"));
}

function lengthOctets(length: number): Uint8Array {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}
