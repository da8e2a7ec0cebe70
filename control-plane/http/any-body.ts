import type { FastifyInstance } from "fastify";

/**
 * Makes a scope accept a body of any type, of which nothing is read: the link says all, and mail programs send forms of
 * both types (RFC 8058, section 3.2). The server discards the body, within its limits, before it answers. Call it in a
 * scope of its own: other routes accept JSON and forms only.
 */
export function acceptAnyBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  // Fastify would refuse a malformed type.
  scope.addHook("onRequest", async ({ raw: { headers } }) => {
    if (headers["content-type"] !== undefined) headers["content-type"] = "application/octet-stream";
  });
  scope.addContentTypeParser("*", () => Promise.resolve(null));
}
