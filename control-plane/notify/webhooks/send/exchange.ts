import type { IncomingMessage } from "node:http";
import { Agent, request as open } from "node:https";
import { isIP, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import {
  describeFault,
  HEAD_OVERFLOW,
  PROTOCOL_SWITCHED,
  SLOW_CONNECT,
  TOO_MANY_INFORMATIONAL,
  WRONG_PEER,
  type SendFault,
} from "#control-plane/notify/webhooks/send/fault.ts";

/** A request to a vetted address. */
interface SentRequest {
  readonly url: URL;
  /** The address to connect to. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer of a receiver, or why there is none. */
export type Exchanged =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: readonly { readonly name: string; readonly value: string }[];
      /** Beginning of the body. */
      readonly body: string;
      readonly isTruncated: boolean;
    }
  | { readonly ok: false; readonly fault: SendFault };

/** Sends requests over kept connections. */
export interface Exchanger {
  /** Sends a request and reads its answer. Never rejects. `signal` ends it, also while the body arrives. */
  post(request: SentRequest, signal: AbortSignal): Promise<Exchanged>;
  /** Closes all connections. */
  close(): void;
}

/** Maximum number of connections to one address for one host. */
const CONNECTIONS = 16;
/** Connections without a request are closed after this time, milliseconds. */
const IDLE_MS = 30_000;
/** Time for the connection and its TLS handshake, milliseconds. */
const CONNECT_MS = 10_000;
/** Bytes of the head of an answer, those of the informational answers before it included. */
const MOST_HEAD_BYTES = 16_384;
const MOST_INFORMATIONAL = 16;
/** Bytes of a body that are kept, and that are read at all. */
const KEPT_BYTES = 4_096;
const MOST_BODY_BYTES = 65_536;
const MOST_HEADERS = 50;
const MOST_HEADER_VALUE = 1_000;

/**
 * Creates the connections of one replica. They are kept apart by vetted address, port and server name. So two host names
 * never share a connection, and a name whose address has changed gets new ones.
 */
export function createExchanger(): Exchanger {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: CONNECTIONS,
    timeout: IDLE_MS,
    ALPNProtocols: ["http/1.1"],
  });
  return {
    async post(request, signal) {
      try {
        const answer = await send(agent, request, signal);
        const read = await readBody(answer);
        return { ok: true, status: answer.statusCode ?? 0, headers: listHeaders(answer), ...read };
      } catch (error) {
        return { ok: false, fault: signal.aborted ? TIMEOUT : describeFault(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

const TIMEOUT: SendFault = {
  code: "timeout",
  message: "The receiver did not answer completely within the time limit.",
};

interface Head {
  readonly rawHeaders: readonly string[];
}

/** Sends a request. Resolves with its final answer; those before it are read past. */
function send(
  agent: Agent,
  { url, address, headers, body }: SentRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const host = bareHost(url);
  const sent = open({
    agent,
    // A literal: it is never looked up. The server has to prove that it is the host of the URL.
    host: address,
    port: url.port === "" ? 443 : Number(url.port),
    // RFC 6066, section 3: an address is no server name.
    servername: isIP(host) === 0 ? host : "",
    method: "POST",
    path: url.pathname + url.search,
    headers: { host: url.host, ...headers, "content-length": Buffer.byteLength(body) },
    maxHeaderSize: MOST_HEAD_BYTES,
    // Takes lines that end with a bare LF, too: the event has arrived, whatever the answer looks like.
    insecureHTTPParser: true,
    signal,
  });
  const giveUp = (code: string): void => {
    reject(failure(code));
    sent.destroy();
  };
  let headBytes = 0;
  let informational = 0;
  const isTooLarge = ({ rawHeaders }: Head): boolean => {
    for (const part of rawHeaders) headBytes += part.length;
    return headBytes > MOST_HEAD_BYTES;
  };
  sent.on("socket", (socket) => guard(socket, address));
  sent.on("information", (head) => {
    informational += 1;
    if (informational > MOST_INFORMATIONAL) giveUp(TOO_MANY_INFORMATIONAL);
    else if (isTooLarge(head)) giveUp(HEAD_OVERFLOW);
  });
  sent.on("upgrade", (_answer, socket) => {
    socket.destroy();
    giveUp(PROTOCOL_SWITCHED);
  });
  sent.on("response", (answer) => {
    // Without the fields that make it an upgrade, 101 is read as a final answer.
    if (answer.statusCode === 101) giveUp(PROTOCOL_SWITCHED);
    else if (isTooLarge(answer)) giveUp(HEAD_OVERFLOW);
    else resolve(answer);
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

/**
 * Holds a request back until its connection is secure and leads to the vetted address, for CONNECT_MS at most. A
 * connection that is used again is both already.
 */
function guard(socket: Socket, address: string): void {
  if (!isConnecting(socket)) return;
  socket.cork();
  const timer = setTimeout(() => socket.destroy(failure(SLOW_CONNECT)), CONNECT_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.once("secureConnect", () => {
    clearTimeout(timer);
    if (!isSameAddress(socket.remoteAddress ?? "", address)) socket.destroy(failure(WRONG_PEER));
    else socket.uncork();
  });
}

/** Reports whether a TLS connection is not secure yet. Node's types do not know the field. */
function isConnecting(socket: Socket & { readonly secureConnecting?: boolean }): boolean {
  return socket.secureConnecting === true;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Reports whether two literals are one address. A dual-stack socket writes IPv4 addresses as mapped ones. */
function isSameAddress(one: string, other: string): boolean {
  return ipaddr.isValid(one) && ipaddr.process(one).toString() === ipaddr.process(other).toString();
}

/** Reads a body up to MOST_BODY_BYTES. A longer one is cut off with its connection, and counts as an answer. */
async function readBody(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ readonly body: string; readonly isTruncated: boolean }> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - length));
    length += chunk.length;
    if (length > MOST_BODY_BYTES) break;
  }
  return { body: toText(Buffer.concat(kept).toString("utf8")), isTruncated: length > KEPT_BYTES };
}

function listHeaders({ headersDistinct }: IncomingMessage) {
  const rows = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((one) => ({ name: toText(name), value: toText(one.slice(0, MOST_HEADER_VALUE)) })),
  );
  return rows.slice(0, MOST_HEADERS);
}

/** Returns text that the database takes. */
function toText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
