import type { IncomingMessage } from "node:http";

/**
 * Returns the target of a request in origin form. The host of a target in absolute form takes the place of that in the
 * Host field, which does not count then (RFC 9112, section 3.2.2). `*` becomes a path without a route.
 */
export function readTarget(request: IncomingMessage): string {
  const { url: target = "/" } = request;
  if (target.startsWith("/")) return target;
  const scheme = /^https?:\/\//i.exec(target)?.[0];
  if (scheme === undefined) return `/${target}`;
  const rest = target.slice(scheme.length);
  const start = rest.search(/[/?#]/);
  request.headers.host = start === -1 ? rest : rest.slice(0, start);
  const path = start === -1 ? "" : rest.slice(start);
  return path.startsWith("/") ? path : `/${path}`;
}
