import type { Identity } from "#test/servers/http.ts";
import { startSocketServer, type Accept } from "#test/servers/wire-tls.ts";

/** Octets of the client's connection preface (RFC 9113 section 3.4). */
const PREFACE_BYTES = 24;
const TYPES = { data: 0, headers: 1, rst_stream: 3, settings: 4, ping: 6, goaway: 7, continuation: 9 } as const;

/** One HTTP/2 frame (RFC 9113 section 4.1). */
export function frame(type: keyof typeof TYPES, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = TYPES[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HEADERS of a 200 on stream 1, with a Content-Length where one is given (RFC 7541 appendix A and section 6.2.2). */
export function headers200(contentLength?: number, encoding?: string): Buffer {
  const literal = (index: number, text: string) => [0x0f, index - 15, text.length, ...Buffer.from(text, "latin1")];
  const fields = [
    0x88,
    ...(contentLength === undefined ? [] : literal(28, String(contentLength))),
    ...(encoding === undefined ? [] : literal(26, encoding)),
  ];
  return frame("headers", 0x4, 1, Buffer.from(fields));
}

/** A header block of literal fields, each without an index (RFC 7541 section 6.2.2). Values have at most 16 KB. */
export function fieldBlock(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => {
    const octets = Buffer.from(value, "latin1");
    const over = octets.length - 127;
    const length = over < 0 ? [octets.length] : [127, ...(over < 128 ? [over] : [(over & 127) | 128, over >> 7])];
    return Buffer.concat([Buffer.from(length), octets]);
  };
  const parts = Object.entries(fields).map(([name, value]) =>
    Buffer.concat([Buffer.from([0]), text(name), text(value)]),
  );
  return Buffer.concat(parts);
}

/** A 32-bit number as octets, the payload of RST_STREAM. */
export function word(...values: readonly number[]): Buffer {
  const octets = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) octets.writeUInt32BE(value, 4 * index);
  return octets;
}

/** A running server. */
export interface FrameServer {
  /** Origin without a final slash. */
  readonly url: string;
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/**
 * Starts a server that greets in HTTP/2, in the clear or over TLS, and lets `answer` write whatever frames it likes once
 * the request is there: Node's own server never resets a stream without ending it.
 */
export async function startFrameServer(answer: Accept, tls: Identity | null): Promise<FrameServer> {
  const server = await startSocketServer(
    (socket, raw) => {
      let seen = 0;
      let answered = false;
      socket.write(frame("settings", 0, 0, Buffer.alloc(0)));
      socket.on("data", (chunk: Buffer) => {
        seen += chunk.length;
        // A SETTINGS frame and HEADERS follow the preface; both are longer than their frame headers.
        if (answered || seen < PREFACE_BYTES + 60) return;
        answered = true;
        answer(socket, raw);
      });
    },
    tls === null ? null : { ...tls, alpn: ["h2"] },
  );
  return {
    url: `${tls === null ? "http" : "https"}://127.0.0.1:${server.port}`,
    open: () => server.open(),
    close: () => server.close(),
  };
}
