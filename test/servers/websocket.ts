import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { Identity } from "#test/servers/http.ts";
import { startSocketServer } from "#test/servers/wire-tls.ts";

/** A frame of a client, unmasked. */
export interface SeenFrame {
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly text: string;
}

/** What a server does. */
export interface WebsocketScript {
  /** Answers the request; default: opens the WebSocket. `accept` is the right answer to its key. */
  readonly answer?: (socket: Socket, accept: string) => void;
  /** Further fields of the default answer, each with its CR and LF. */
  readonly fields?: string;
  /** After the default answer. */
  readonly opened?: (socket: Socket) => void;
  /** On each frame of the client. */
  readonly heard?: (socket: Socket, frame: SeenFrame) => void;
  readonly tls?: Identity | null;
}

/** A running server. */
export interface WebsocketServer {
  readonly port: number;
  /** Heads of the requests. */
  readonly requests: readonly string[];
  readonly frames: readonly SeenFrame[];
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/** A frame of a server: a first octet (0x81: a whole text message) and a payload. */
export function serverFrame(first: number, payload: string | Buffer = ""): Buffer {
  const octets = Buffer.from(payload);
  const { length } = octets;
  const head = length < 126 ? [first, length] : [first, 126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), octets]);
}

/** Starts a WebSocket server on loopback that follows its script on every connection. */
export async function startWebsocketServer(script: WebsocketScript = {}): Promise<WebsocketServer> {
  const requests: string[] = [];
  const frames: SeenFrame[] = [];
  const server = await startSocketServer((socket) => {
    let held = Buffer.alloc(0);
    let isOpen = false;
    const open = (accept: string): void => {
      const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${script.fields ?? ""}`;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
      script.opened?.(socket);
    };
    socket.on("data", (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      const end = held.indexOf("\r\n\r\n");
      if (!isOpen && end >= 0) {
        isOpen = true;
        const head = held.toString("latin1", 0, end);
        held = held.subarray(end + 4);
        requests.push(head);
        const key = /^Sec-WebSocket-Key: (.*)$/m.exec(head)?.[1]?.trim() ?? "";
        const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
        (script.answer ?? ((_socket, right) => open(right)))(socket, accept);
      }
      for (let next = isOpen ? readOne(held) : null; next !== null; next = readOne(held)) {
        held = held.subarray(next.end);
        frames.push(next.frame);
        script.heard?.(socket, next.frame);
      }
    });
  }, script.tls ?? null);
  return { port: server.port, requests, frames, open: () => server.open(), close: () => server.close() };
}

/** Reads a short frame of a client. */
function readOne(octets: Buffer): { readonly frame: SeenFrame; readonly end: number } | null {
  const [first = 0, second = 0] = octets;
  const isMasked = (second & 0x80) !== 0;
  const extended = (second & 0x7f) === 126;
  const start = 2 + (extended ? 2 : 0) + (isMasked ? 4 : 0);
  if (octets.length < Math.max(2, start)) return null;
  const end = start + (extended ? octets.readUInt16BE(2) : second & 0x7f);
  if (octets.length < end) return null;
  const mask = isMasked ? octets.subarray(start - 4, start) : Buffer.alloc(4);
  const payload = octets.subarray(start, end).map((octet, at) => octet ^ (mask[at % 4] ?? 0));
  return { frame: { opcode: first & 0x0f, isMasked, text: Buffer.from(payload).toString("latin1") }, end };
}
