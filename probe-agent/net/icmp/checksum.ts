/** Computes the Internet checksum (RFC 1071) of some octets. It is 0 for octets that contain a correct checksum. */
export function internetChecksum(...parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let index = 0; index < part.length; index += 2) {
      sum += ((part[index] ?? 0) << 8) | (part[index + 1] ?? 0);
    }
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}
