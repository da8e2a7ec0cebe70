/** Reports whether two octet strings have the same length and the same octets. Not for secrets: the time depends on them. */
export function isSameOctets(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
