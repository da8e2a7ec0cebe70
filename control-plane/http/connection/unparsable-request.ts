import type { Socket } from "node:net";
import { errorBody } from "#control-plane/http/envelope.ts";

/** Time for the client to read the answer and to close the connection, milliseconds. */
const LINGER_MS = 2_000;

const MESSAGES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "The request timed out before it arrived completely.",
  HPE_HEADER_OVERFLOW: "The request's header fields are larger than 16 KiB.",
};

/**
 * Answers a connection whose bytes are not valid HTTP: 400 in the envelope, then close. There is no request object, so
 * the answer is written directly to the socket.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // Reset by the peer, or invalid data during an answer: no further answer is possible.
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswerBegun(socket)) {
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
 * Closes the connection when the client closes its direction, or after LINGER_MS. If it were closed immediately, further
 * data would be answered with a reset, and the client would lose the answer before it reads it (RFC 9112, section 9.6).
 * Node does not close half-open connections by itself.
 */
function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.once("end", () => socket.destroySoon());
}

/** Reports whether an answer has begun: Node stores it on the socket, and a second one would corrupt it. */
function hasAnswerBegun(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return message !== undefined && message !== null && message.headersSent;
}
