import { isUtf8 } from "node:buffer";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import { unredacted, type Redact } from "#shared/text/redact.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { octetForms, quoted } from "#probe-agent/monitor-checks/octets.ts";
import type { Stream, StreamEnd } from "#probe-agent/port/stream.ts";

/** Maximum number of octets of all frames together. */
export const MOST_FRAME_BYTES = 65_536;

/** The messages of an open WebSocket. */
interface Messages {
  sendText(text: string): void;
  /**
   * Waits until a message contains a text, in pieces or as a whole; pings are answered. The outcome has the fault of a
   * server that closes, breaks the protocol or sends more than 64 KB before.
   */
  find(text: string): Promise<Outcome<MonitorFault | null>>;
  /** Says that no more will be sent (RFC 6455 section 7.4.1, code 1000). */
  bid(): void;
}

/** Reads and writes frames over a connection after its handshake. `random` returns as many random octets. */
export function openMessages(stream: Stream, random: (count: number) => Uint8Array): Messages {
  const { redact } = stream;
  const send = (opcode: number, payload: Uint8Array): void =>
    stream.send(encodeFrame(opcode, payload, random(MASK_BYTES)));
  return {
    sendText: (text) => send(OPCODES.text, Buffer.from(text)),
    bid: () => send(OPCODES.close, Buffer.from([0x03, 0xe8])),
    async find(text) {
      const search = createSearch(text);
      let at = 0;
      for (;;) {
        const octets = stream.received();
        const progress = readFrame(octets, at, MOST_FRAME_BYTES - at);
        if (progress.state === "broken") return ok(fault(progress.reason, progress.message));
        if (progress.state === "more") {
          const end = await stream.more();
          if (end !== null) return explainEnd(end, text, search.said(), redact);
          continue;
        }
        at = progress.end;
        const { opcode, payload } = progress.frame;
        if (opcode === OPCODES.close) {
          return ok(
            fault(
              "websocket_closed",
              `the server closed the WebSocket ${describeClose(payload, (words) => quoted(words, redact))}`,
            ),
          );
        }
        if (opcode === OPCODES.ping) send(OPCODES.pong, payload);
        const isData = opcode !== OPCODES.ping && opcode !== OPCODES.pong;
        const found = isData ? search.add(progress.frame) : "absent";
        if (found !== "absent") return ok(found === "found" ? null : found);
        if (at >= MOST_FRAME_BYTES) return explainEnd("full", text, search.said(), redact);
      }
    },
  };
}

interface Search {
  /** Adds a frame with data. Returns whether the text is in its message so far, or what is wrong with the frame. */
  add(frame: Frame): "found" | "absent" | MonitorFault;
  /** The first message, as far as it arrived; empty if none did. */
  said(): Buffer;
}

/** Searches a text in messages of one fragment or several. */
function createSearch(text: string): Search {
  const forms = octetForms(text);
  const longest = Math.max(...forms.map(({ length }) => length));
  let first: Buffer | null = null;
  let kind: number | null = null;
  let fragments: Buffer[] = [];
  /** The end of the message so far, in which the text can begin. */
  let tail: Buffer = Buffer.alloc(0);
  return {
    add({ opcode, isFinal, payload }) {
      const continues = opcode === OPCODES.continuation;
      if (continues !== (kind !== null)) {
        const what = continues ? "a continuation of no message" : "a message within another one";
        return fault("protocol_error", `the server breaks the protocol: ${what}`);
      }
      if (!continues) {
        kind = opcode;
        fragments = [];
        tail = Buffer.alloc(0);
      }
      fragments.push(payload);
      first ??= payload;
      const searched = Buffer.concat([tail, payload]);
      const isFound = forms.some((form) => searched.includes(form));
      tail = searched.subarray(Math.max(0, searched.length - longest + 1));
      const isText = kind === OPCODES.text;
      if (isFinal) kind = null;
      if (isFinal && isText && !isUtf8(Buffer.concat(fragments))) {
        return fault("protocol_error", "the server breaks the protocol: a text message that is not UTF-8");
      }
      return isFound ? "found" : "absent";
    },
    said: () => first ?? Buffer.alloc(0),
  };
}

function explainEnd(end: StreamEnd, text: string, said: Buffer, redact: Redact): Outcome<MonitorFault> {
  const wanted = quoted(text, unredacted);
  const words = said.length === 0 ? "" : `; the server said ${quoted(said, redact)}`;
  if (end === "full") return ok(fault("text_missing", `the server sent 64 KB without ${wanted}`));
  if (end === "closed") {
    const message = `the server closed the connection before ${wanted} was found${words}`;
    return failed("response", "target", "closed", message);
  }
  const { reason } = end;
  if (reason === "timeout") {
    return failed(
      "response",
      "target",
      reason,
      `${wanted} was not found in time${words || "; the server said nothing"}`,
    );
  }
  return reason === "reset"
    ? failed("response", "target", reason, `the connection was lost before ${wanted} was found${words}`)
    : end;
}

function fault(reason: string, message: string): MonitorFault {
  return { stage: "response", reason, message };
}

/** Opcodes (RFC 6455 section 5.2). */
const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Octets of a masking key. */
const MASK_BYTES = 4;
/** Maximum length of the payload of a control frame (section 5.5). */
const MOST_CONTROL_BYTES = 125;
const FIRST_CONTROL = 8;
const KNOWN: ReadonlySet<number> = new Set(Object.values(OPCODES));

/** One frame of a server. */
interface Frame {
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
function readFrame(octets: Buffer, from: number, mostBytes: number): FrameProgress {
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
function encodeFrame(opcode: number, payload: Uint8Array, key: Uint8Array): Buffer {
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
function describeClose(payload: Buffer, quote: (words: Buffer) => string): string {
  if (payload.length < 2) return "without a code";
  const words = payload.subarray(2);
  return `with code ${payload.readUInt16BE(0)}${words.length === 0 ? "" : ` ${quote(words)}`}`;
}
