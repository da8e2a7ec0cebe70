import type { Socket } from "node:net";
import { errorBody } from "#control-plane/http/envelope.ts";

/** A client has this long to read the answer and to close the connection. */
const LINGER_MS = 2_000;

const MESSAGES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "The request timed out before it arrived completely.",
  HPE_HEADER_OVERFLOW: "The request's header fields are larger than 16 KiB.",
};

/**
 * Answers a connection whose bytes are no HTTP request: 400 in the envelope, then closed. There is no request to hang an
 * answer on, so the bytes are written by hand.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // Reset by the peer, or broken while an answer is under way: nothing can be said any more.
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswerUnderWay(socket)) {
    socket.destroy();
    return;
  }
  const details = {
    message: MESSAGES[error.code ?? ""] ?? "The request is not valid HTTP.",
    field: "request",
    reason: "type",
  };
  const body = JSON.stringify(errorBody("v4", "missing_parameter", details, { requestId, durationMs: 0 }));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nX-Request-Id: ${requestId}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  closeSoon(socket);
}

/**
 * Closes both directions once the client has closed its own, or after a moment. A connection that is closed at once
 * answers what the client still sends with a reset, and the reset takes the answer away before it is read (RFC 9112,
 * section 9.6). Node does not close it by itself: it allows a half of a connection to stay open without end.
 */
function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.once("end", () => socket.destroySoon());
}

/** Node hangs the current response on the socket; once its headers are out, a second answer would be garbage. */
function hasAnswerUnderWay(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return message !== undefined && message !== null && message.headersSent;
}
