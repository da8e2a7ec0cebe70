/**
 * Error for octets or text that are not valid DNS data. The codec throws no other exception. `message` is readable
 * text.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}
