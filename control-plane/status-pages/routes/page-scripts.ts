import type { FastifyInstance } from "fastify";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { PAGE_SCRIPTS } from "#control-plane/status-pages/browser/scripts.ts";

/** A path is of one content for ever. */
const CACHE = "public, max-age=31536000, immutable";

/** Registers the scripts of pages, at the service and at the pages' own domains. */
export function registerPageScripts(server: FastifyInstance): void {
  for (const { path, text } of PAGE_SCRIPTS) {
    const document = createDocument(text, { type: "text/javascript; charset=utf-8", cacheControl: CACHE });
    server.route({
      method: ["GET", "HEAD"],
      url: path,
      schema: { hide: true },
      config: { isOfPage: true },
      handler: (request, reply) => sendDocument(request, reply, document),
    });
  }
}
