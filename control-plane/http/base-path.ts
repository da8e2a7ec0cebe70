import type { FastifyInstance } from "fastify";

/**
 * The paths that our pages name: root-relative values of these attributes. Only markup has a quote that is not escaped, so
 * that no text of a page is taken for an attribute.
 */
const NAMED = /(\s(?:href|src|action|formaction|data-preview)=")(?=\/(?!\/))/g;

/** Puts the base path before each path that a page of the tag `html` names. */
export function placePaths(page: string, basePath: string): string {
  return basePath === "" ? page : page.replaceAll(NAMED, `$1${basePath}`);
}

/** Removes the base path from the target of a request. A proxy may have removed it already. */
export function withoutBasePath(target: string, basePath: string): string {
  if (!target.startsWith(basePath)) return target;
  const rest = target.slice(basePath.length);
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : target;
}

/** Puts the base path into answers: into redirects, and into pages that are sent as texts. Documents do it themselves. */
export function placeAnswers(server: FastifyInstance): void {
  server.addHook("onSend", (request, reply, payload, done) => {
    const location = reply.getHeader("location");
    if (typeof location === "string" && /^\/(?!\/)/.test(location))
      reply.header("location", request.basePath + location);
    const isPage = typeof payload === "string" && String(reply.getHeader("content-type")).startsWith("text/html");
    done(null, isPage ? placePaths(payload, request.basePath) : payload);
  });
}
