import type { FastifyRequest } from "fastify";
import { BODY_LIMIT, RawBody, refuseJson } from "#control-plane/http/body.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { readWrite } from "#control-plane/http/params.ts";
import { OUTLINE } from "#control-plane/monitors/transfer/document.ts";
import {
  documentFrom,
  documentOf,
  outlineProblem,
  type ParsedDocument,
} from "#control-plane/monitors/transfer/parse-document.ts";
import type { ImportedDocument } from "#control-plane/monitors/transfer/rows.ts";
import { createThread } from "#control-plane/core/thread.ts";

/** Reads the documents of requests; large ones in a thread, because their parse holds the loop for long. */
export interface ImportBodies {
  /** Returns a document, whose rows are not checked yet. Throws Refusal. */
  read(request: FastifyRequest): Promise<ImportedDocument>;
  close(): void;
}

/** Maximum duration of the parse of a document, in milliseconds. 4 MB in the worst form take a second. */
const MOST_MS = 10_000;
/** Maximum number of documents that wait. Each holds 4 MB, as received. */
const MOST_WAITING = 8;
/** Heap of the thread, in megabytes: the parsed form of 4 MB of empty lists takes 150. */
const HEAP_MB = 384;

/** Creates the reader of documents. Its thread starts with the first large one. */
export function createImportBodies(): ImportBodies {
  const thread = createThread<Uint8Array, ParsedDocument>({
    program: new URL("../transfer/thread-program.ts", import.meta.url),
    mostMs: MOST_MS,
    mostWaiting: MOST_WAITING,
    heapMb: HEAP_MB,
  });
  return {
    async read(request) {
      const { body } = request;
      if (!(body instanceof RawBody) || body.kind === "form" || body.bytes.length <= BODY_LIMIT) {
        const outline = readWrite(OUTLINE, request);
        const problem = outlineProblem(outline);
        if (problem !== null) throw refuseField(problem);
        return documentOf(outline);
      }
      const parsed = await thread.run(() => body.bytes);
      switch (parsed.kind) {
        case "document":
          return documentFrom(parsed.written);
        case "problem":
          throw refuseField(parsed.problem);
        case "unreadable":
          throw refuseJson(parsed.why);
        case "busy":
        case "too_slow":
          throw away("Too many large documents are being imported. Try again in 5 s.");
        case "broken":
          throw away("The document could not be read. Try again in 5 s, in parts of at most 1 MB.");
      }
    },
    close: () => thread.close(),
  };
}

function away(message: string): Refusal {
  return new Refusal("service_unavailable", { message, retryAfterSeconds: 5 });
}
