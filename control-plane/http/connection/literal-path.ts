/** Below it any path is a credential, or a guess of one: all guesses are answered alike, and none as malformed. */
const LITERAL = "/api/heartbeat/";
const CONTROL = /\p{Cc}/u;

/**
 * Returns a request target whose path is not refused. The router refuses escapes that are not UTF-8, and the server names
 * with control characters. Below LITERAL such a path is taken as it is written, with its escapes undecoded.
 */
export function acceptLiteralPath(target: string): string {
  if (!target.startsWith(LITERAL)) return target;
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return isReadable(path) ? target : path.replaceAll("%", "%25") + target.slice(path.length);
}

function isReadable(path: string): boolean {
  try {
    return !CONTROL.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}
