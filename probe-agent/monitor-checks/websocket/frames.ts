/** Opcodes (RFC 6455 section 5.2). */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Octets of a masking key. */
export const MASK_BYTES = 4;
/** Maximum length of the payload of a control frame (section 5.5). */
const MOST_CONTROL_BYTES = 125;
const FIRST_CONTROL = 8;
const KNOWN: ReadonlySet<number> = new Set(Object.values(OPCODES));

/** One frame of a server. */
export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The next frame and the octets after which it ends, or what is missing or wrong (a clause about the server). */
type FrameProgress =
  | { readonly state: "frame"; readonly frame: Frame; readonly end: number }
  | { readonly state: "more" }
  | { readonly state: "broken"; readonly reason: string; readonly message: string };

/**
 * Reads the frame that begins at `from`. A frame with a longer payload than `mostBytes` is broken before it has arrived.
 */
export function readFrame(octets: Buffer, from: number, mostBytes: number): FrameProgress {
  const [first, second] = octets.subarray(from, from + 2);
  if (first === undefined || second === undefined) return { state: "more" };
  const opcode = first & 0x0f;
  const isFinal = (first & 0x80) !== 0;
  if ((first & 0x70) !== 0) return broken("reserved bits are set, though no extension was agreed");
  if (!KNOWN.has(opcode)) return broken(`the unknown opcode ${opcode}`);
  if ((second & 0x80) !== 0) return broken("a masked frame, which only clients send");
  const short = second & 0x7f;
  if (opcode >= FIRST_CONTROL && (!isFinal || short > MOST_CONTROL_BYTES)) {
    return broken("a control frame that is fragmented or longer than 125 bytes");
  }
  const start = from + 2 + (short === 127 ? 8 : short === 126 ? 2 : 0);
  if (octets.length < start) return { state: "more" };
  const length =
    short === 127 ? octets.readBigUInt64BE(from + 2) : BigInt(short === 126 ? octets.readUInt16BE(from + 2) : short);
  if (length > BigInt(mostBytes)) {
    const message = `the server sends more than 64 KB: a frame has ${length.toLocaleString("en-US")} bytes`;
    return { state: "broken", reason: "too_much_data", message };
  }
  const end = start + Number(length);
  if (octets.length < end) return { state: "more" };
  return { state: "frame", frame: { isFinal, opcode, payload: octets.subarray(start, end) }, end };
}

function broken(what: string): FrameProgress {
  return { state: "broken", reason: "protocol_error", message: `the server breaks the protocol: ${what}` };
}

/** Encodes an unfragmented frame of a client, masked with the key (section 5.3). */
export function encodeFrame(opcode: number, payload: Uint8Array, key: Uint8Array): Buffer {
  const { length } = payload;
  const short = length < 126 ? length : length < 65_536 ? 126 : 127;
  const extended = Buffer.alloc(short === 127 ? 8 : short === 126 ? 2 : 0);
  if (short === 127) extended.writeBigUInt64BE(BigInt(length));
  if (short === 126) extended.writeUInt16BE(length);
  const masked = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) masked[at] = (payload[at] ?? 0) ^ (key[at % MASK_BYTES] ?? 0);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | short]), extended, key.subarray(0, MASK_BYTES), masked]);
}

/** Describes a close frame: its code and words, cut and quoted by `quote` (section 5.5.1). */
export function describeClose(payload: Buffer, quote: (words: Buffer) => string): string {
  if (payload.length < 2) return "without a code";
  const words = payload.subarray(2);
  return `with code ${payload.readUInt16BE(0)}${words.length === 0 ? "" : ` ${quote(words)}`}`;
}
