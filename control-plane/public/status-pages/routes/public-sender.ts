import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { createDocument, sendDocument, type Document } from "#control-plane/http/operations/document.ts";
import { ageOf, OWN_CACHE, PUBLIC_CACHE } from "#control-plane/public/status-pages/routes/public-headers.ts";

/** What is sent of a page, as it was at a time. */
interface Dated {
  readonly generatedAt: Date;
}

/** Sends what pages show. */
interface PublicSender {
  /** Returns a body of what is shown, rendered once: what is dropped takes its bodies with it. */
  documentOf(shown: object, key: string, type: string, render: () => string): Document;
  /** Sends a body with the age of its view. `isForAll`: whether everybody may see it, so that caches may keep it. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    document: Document,
    view: Dated,
    isForAll: boolean,
  ): Promise<FastifyReply>;
}

/** Creates the sender of one server. */
export function createPublicSender(clock: Clock): PublicSender {
  const documents = new WeakMap<object, Map<string, Document>>();
  return {
    documentOf(shown, key, type, render) {
      const known = documents.get(shown) ?? new Map<string, Document>();
      documents.set(shown, known);
      const document = known.get(key) ?? createDocument(render(), { type, cacheControl: PUBLIC_CACHE });
      known.set(key, document);
      return document;
    },
    async send(request, reply, document, view, isForAll) {
      if (isForAll) reply.headers(ageOf(view, clock.now()));
      return await sendDocument(request, reply, isForAll ? document : { ...document, cacheControl: OWN_CACHE });
    },
  };
}
