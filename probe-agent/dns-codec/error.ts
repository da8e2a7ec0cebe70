/** Octets or text that are not valid DNS data. The only exception the codec throws; `message` is for people. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}
