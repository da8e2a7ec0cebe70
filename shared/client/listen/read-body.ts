import type { IncomingMessage } from "node:http";

/**
 * Reads the body of a request; null if it is longer than `most` bytes. The rest of a long body is read and dropped,
 * because the sender can lose an answer that arrives while it still sends (RFC 9112, section 9.6); the server's time
 * limit ends a request that does not end. Rejects if the sender disconnects first.
 */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > most) chunks.length = 0;
    else chunks.push(chunk);
  }
  return length > most ? null : Buffer.concat(chunks);
}
