import swagger from "@fastify/swagger";
import reference from "@scalar/fastify-api-reference";
import { escapeDescriptions } from "#control-plane/surfaces/api-document/escape-markdown.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  createDocument,
  prepareDocument,
  sendDocument,
  type Document,
} from "#control-plane/http/operations/document.ts";

/** Facts of this installation in the API document. */
interface DocsOptions {
  readonly baseUrl: string;
  readonly version: string;
}

/** Starts to collect routes for the API document; call before any route. */
export async function collectRoutes(server: FastifyInstance, { baseUrl, version }: DocsOptions): Promise<void> {
  await server.register(swagger, {
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, index) => (typeof $id === "string" ? $id : `def-${index}`),
    },
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Vantage",
        version,
        summary: "Website diagnostics and monitoring from many locations",
        description:
          "A successful response is `{data, meta}`, an error `{error, meta}`. Every response has X-Request-Id. Every " +
          "response to a request with a key has X-RateLimit-Limit, -Remaining, -Reset and the RateLimit fields.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: baseUrl }],
      tags: [
        "Tools",
        "Measurements",
        "Batch",
        "Monitors",
        "Incidents",
        "Changes",
        "Audit",
        "Open tier",
        "Agent endpoint",
        "Catalogue",
        "Admin",
        "Health",
        "Tools, version 3",
        "Monitors, version 3",
      ].map((name) => ({ name })),
      components: {
        securitySchemes: {
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "X-API-Key",
            description: "API key of an account. Used if a request has both headers",
          },
          bearerKey: { type: "http", scheme: "bearer", description: "API key of an account" },
          operatorToken: { type: "http", scheme: "bearer", description: "Token of the operator" },
        },
      },
    },
  });
}

/** Registers GET /openapi.json and the page /docs, generated from all routes; call after the last route. */
export async function registerDocs(server: FastifyInstance): Promise<void> {
  let document: Document | undefined;
  server.route({
    method: "GET",
    url: "/openapi.json",
    schema: { hide: true },
    handler: (request, reply) => {
      const text = (): string => JSON.stringify(escapeDescriptions(server.swagger()));
      document ??= createDocument(text(), { type: "application/json; charset=utf-8" });
      return sendDocument(request, reply, document);
    },
  });
  await server.register(async (pages) => {
    cacheDocuments(pages);
    await registerPages(pages);
  });
}

/** Caches the answers of the routes of a scope: they are the same for every client. */
function cacheDocuments(scope: FastifyInstance): void {
  const documents = new Map<string, Document>();
  scope.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== "string") return payload;
    const path = request.routeOptions.url ?? "";
    const document = documents.get(path) ?? createDocument(payload, { type: String(reply.getHeader("content-type")) });
    documents.set(path, document);
    return prepareDocument(request, reply, document);
  });
}

async function registerPages(server: FastifyInstance): Promise<void> {
  await server.register(reference, {
    routePrefix: "/docs",
    hooks: { onRequest: withPlainOrigin },
    // The page calls only this server.
    configuration: {
      url: "/openapi.json",
      pageTitle: "Vantage API",
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: "never",
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      authentication: { preferredSecurityScheme: "apiKey" },
    },
  });
}

/**
 * The page derives its path from a URL of the request's protocol and host, and throws if they do not form a valid URL:
 * an empty Host, HTTP/1.0, a proxy's X-Forwarded-Host. It uses nothing else of the URL, so a fixed host replaces them.
 */
function withPlainOrigin(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  Object.defineProperties(request, { protocol: { value: "http" }, hostname: { value: "localhost" } });
  done();
}
