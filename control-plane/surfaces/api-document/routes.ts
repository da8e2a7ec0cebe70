import swagger from "@fastify/swagger";
import reference from "@scalar/fastify-api-reference";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { escapeDescriptions } from "#control-plane/surfaces/api-document/escape-markdown.ts";
import { toReadingDocument } from "#control-plane/surfaces/api-document/reading-document.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  createDocument,
  prepareDocument,
  sendDocument,
  type Document,
} from "#control-plane/http/operations/document.ts";

/** Groups of operations in the API document, in the order of the page /docs. */
const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: "Tools", description: "One check of a target now, from one probe or, with `locations`, from many at once." },
  { name: "Open tier", description: "Tools without a key, as text, JSON or CSV. They are limited by client address." },
  { name: "Measurements", description: "Calls of tools that run in the background, and results shared by a link." },
  { name: "Batch", description: "One tool over a list of targets, in the background." },
  { name: "Monitors", description: "Targets that are checked again and again, with their state, uptime and history." },
  {
    name: "Heartbeats",
    description: "Addresses to which jobs report their runs. A report that is missing is an outage.",
  },
  { name: "Incidents", description: "Outages of monitors, and incidents that you open yourself, with their timeline." },
  { name: "Maintenance", description: "Planned times in which nobody is alerted, once or repeated." },
  {
    name: "Status pages",
    description: "Pages that show visitors the state of some monitors, with feeds and subscriptions.",
  },
  { name: "Webhooks", description: "Addresses that are sent signed events, and the log of what was sent." },
  { name: "Mail", description: "Links in mails that confirm an address or end its mails." },
  { name: "Agent endpoint", description: "The tools for AI agents, by the Model Context Protocol." },
  { name: "Prometheus", description: "Metrics of your monitors, and probes in the manner of blackbox_exporter." },
  { name: "Catalogue", description: "The tools with their parameters, and the places from which they can run." },
  { name: "Account", description: "Your plan, the scopes of your key, and how much of the limits is used." },
  { name: "Changes", description: "Who changed what in your account, and when." },
  { name: "Audit", description: "Signed exports of monitors, checks and whole accounts." },
  { name: "Tools, version 3", description: "The tools of the API before this one, with the key also in `api_key`." },
  { name: "Monitors, version 3", description: "Monitors in the API before this one." },
  { name: "Status pages, version 3", description: "Status pages in the API before this one." },
  { name: "Admin", description: "Accounts, keys and probes, for the operator of the service." },
  { name: "Health", description: "Whether the process is alive and ready, for load balancers." },
];

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
        description: introduce(baseUrl),
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: baseUrl }],
      tags: [...TAGS],
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

/** Writes the introduction, in CommonMark. */
function introduce(baseUrl: string): string {
  return [
    "Vantage examines web sites, hosts, names and mail from probes in one or many places, and monitors them.",
    `Send your key as \`X-API-Key: <key>\` or \`Authorization: Bearer <key>\`. The operator of the service creates keys with \`${LAUNCHER} keys create\`. ` +
      "The tools of the open tier need none.",
    `The first request: \`curl -H "X-API-Key: $KEY" "${baseUrl}/api/v4/check?url=example.com"\`. Without a key: ` +
      `\`curl "${baseUrl}/api/open/dns?q=example.com"\`.`,
    "A successful response is `{data, meta}`, an error `{error, meta}` with a `code` for programs, a `message` for people, " +
      "and the `field` at fault. Every response has X-Request-Id. Every response to a request with a key has " +
      "X-RateLimit-Limit, -Remaining, -Reset and the RateLimit fields.",
    "Lists run newest first, in pages of `per_page` rows. Writes accept X-Idempotency-Key, so that a repetition does " +
      "nothing twice.",
    "This document for programs: `/openapi.json`.",
  ].join("\n\n");
}

/** Path of the document that the page /docs shows. */
const READING_PATH = "/docs/reading.json";

/** Registers GET /openapi.json and the page /docs, generated from all routes; call after the last route. */
export async function registerDocs(server: FastifyInstance): Promise<void> {
  const documents = [
    ["/openapi.json", () => server.swagger()],
    [READING_PATH, () => toReadingDocument(server.swagger())],
  ] as const;
  for (const [url, make] of documents) {
    let document: Document | undefined;
    server.route({
      method: "GET",
      url,
      schema: { hide: true },
      handler: (request, reply) => {
        document ??= createDocument(JSON.stringify(escapeDescriptions(make())), {
          type: "application/json; charset=utf-8",
        });
        return sendDocument(request, reply, document);
      },
    });
  }
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
      url: READING_PATH,
      pageTitle: "Vantage API",
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: "never",
      hideClientButton: true,
      // It would offer the document for readers; the introduction names the one for programs.
      documentDownloadType: "none",
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
