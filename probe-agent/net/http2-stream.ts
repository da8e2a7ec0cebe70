import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from "node:http2";

/** Native sessions whose stream is not collected yet. */
const held = new Set<object>();
const streams = new FinalizationRegistry((session: object) => held.delete(session));

/**
 * Sends a request on a session. As `session.request`, and safe for the process: a stream whose header block is cut off (no
 * END_HEADERS, a block that is too large) keeps octets of its session, and Node 24 and 26 abort the process when the
 * session is collected before the stream (`current_nghttp2_memory_ == 0`; what CVE-2024-27983 left on the side of the
 * client). A server could end an agent so. The session is therefore kept until the stream is collected.
 */
export function startStream(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  options: ClientSessionRequestOptions,
): ClientHttp2Stream {
  const stream = session.request(headers, options);
  // A session that is not connected yet has no handle; its streams get theirs when it is, and are ready then.
  if (!keep(session, stream)) stream.once("ready", () => void keep(session, stream));
  return stream;
}

function keep(session: ClientHttp2Session, stream: ClientHttp2Stream): boolean {
  const [owner, owned] = [handleOf(session), handleOf(stream)];
  if (owner === null || owned === null) return false;
  held.add(owner);
  streams.register(owned, owner);
  return true;
}

/** Returns the native object of a session or stream, which Node keeps under a symbol; null if it has none now. */
function handleOf(owner: object): object | null {
  const symbol = Object.getOwnPropertySymbols(owner).find(({ description }) => description === "kHandle");
  const handle: unknown = symbol === undefined ? null : (owner as Record<symbol, unknown>)[symbol];
  return typeof handle === "object" ? handle : null;
}
