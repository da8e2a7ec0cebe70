import swagger from "@fastify/swagger";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { escapeDescriptions } from "#control-plane/surfaces/api-document/escape-markdown.ts";
import { fastify, type FastifyInstance } from "fastify";
import { createDocument, sendDocument, type Document } from "#control-plane/http/operations/document.ts";

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
  { name: "Installation", description: "What adds an agent to a host, of the version that runs here." },
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

/** Registers GET /openapi.json and the page /docs, generated from all routes; call after the last route. */
export async function registerDocs(server: FastifyInstance): Promise<void> {
  const documents = [
    ["/openapi.json", () => server.swagger()],
    ["/docs/reading.json", () => toReadingDocument(server.swagger())],
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
  registerPages(server);
}

/** The page /docs and its script, as their package names them. */
const PAGES = ["/docs/", "/docs/js/scalar.js"] as const;

/** Registers the page /docs with its script. Their package is loaded with the first request: it takes 20 MB. */
function registerPages(server: FastifyInstance): void {
  let opening: Promise<FastifyInstance> | undefined;
  const open = async (url: string): Promise<Document> => {
    opening ??= openReference();
    const { headers, payload } = await (await opening).inject({ method: "GET", url });
    return createDocument(payload, { type: headers["content-type"] ?? "" });
  };
  for (const url of PAGES) {
    let document: Promise<Document> | undefined;
    server.route({
      method: "GET",
      url,
      schema: { hide: true },
      handler: async (request, reply) => {
        // The page names its files from where it is.
        if (url === "/docs/" && !/\/(?:\?|$)/.test(request.url)) return reply.redirect(url, 301);
        document ??= open(url);
        return sendDocument(request, reply, await document);
      },
    });
  }
}

/**
 * Opens a server for the pages of the reference alone. Its requests have a host of their own, because the page derives its
 * path from a URL of the request's protocol and host, and throws if they do not form a valid URL.
 */
async function openReference(): Promise<FastifyInstance> {
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const pages = fastify();
  await pages.register(reference, {
    routePrefix: "/docs",
    // The page calls only this server.
    configuration: {
      // Beside the page, at any base path.
      url: "./reading.json",
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
  return pages;
}

/** The parts of an operation that this file changes. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema?: { readonly enum?: readonly string[] } }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
}

/** Operations by method. */
type Methods = Readonly<Record<string, Operation>>;

/** What an action of an operation needs. */
interface Action {
  readonly summary: string;
  /** Its parameters besides the header fields. */
  readonly parameters: readonly string[];
  /** Whether it has a body: none, that of the operation, or one of its alternatives by its place. */
  readonly body: "none" | "whole" | number;
}

const simple = (summary: string, ...parameters: readonly string[]): Action => ({ summary, parameters, body: "none" });

/** What operations do without an action ("") and with each: the document has only their sum. By the id of the operation. */
const ACTIONS: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  read_monitors: {
    "": {
      summary: "List your monitors, newest first, or get one by id with its newest checks",
      parameters: ["id", "page", "per_page", "status", "tag", "check_type", "q"],
      body: "none",
    },
    export: simple("Get all your monitors as a document for an import"),
    history: simple("Get the results of a monitor over time", "id", "from", "to"),
    picture: simple("Get a picture of a visual monitor", "id", "picture_id"),
  },
  create_monitor: {
    "": { summary: "Create a monitor", parameters: [], body: 0 },
    run: simple("Check a monitor now", "id"),
    rotate: simple("Replace the address of a heartbeat", "id"),
    accept: simple("Compare a visual monitor with its newest picture from now on", "id"),
    "test-mail": simple("Send a test mail to every address of a monitor", "id"),
    import: { summary: "Create the monitors of a document", parameters: ["dry_run"], body: 1 },
  },
  update_monitor: {
    "": { summary: "Change a monitor: any of its fields", parameters: ["id"], body: 0 },
    bulk: { summary: "Change many monitors in the same way", parameters: [], body: 1 },
  },
  create_webhook: {
    "": { summary: "Create a webhook", parameters: [], body: "whole" },
    rotate: simple("Replace the secret of a webhook", "id"),
    test: simple("Send a test event to a webhook", "id"),
    replay: simple("Send a delivery again", "delivery_id"),
    recover: simple("Send again what a webhook has not got", "id", "since"),
  },
};

/**
 * Returns an API document for readers. OpenAPI has one operation for a path and method: here each action has an entry of
 * its own, with the action in its path, and a tool that takes GET and POST alike has one entry. Programs use the document
 * itself.
 */
function toReadingDocument<T extends { readonly paths?: unknown }>(document: T): T {
  const paths = Object.entries((document.paths ?? {}) as Readonly<Record<string, Methods>>);
  const entries = new Map<string, Record<string, Operation>>();
  const add = (path: string, method: string, operation: Operation): void => {
    entries.set(path, { ...entries.get(path), [method]: operation });
  };
  for (const [path, methods] of paths) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === `${methods["get"]?.operationId}_post`) continue;
      const isTwin = method === "get" && methods["post"]?.operationId === `${operation.operationId}_post`;
      for (const [action, described] of splitActions(isTwin ? withTwin(operation) : operation)) {
        add(action === "" ? path : `${path}?action=${action}`, method, described);
      }
    }
  }
  return { ...document, paths: Object.fromEntries(entries) };
}

function withTwin(operation: Operation): Operation {
  const also = "POST takes the same parameters as a JSON or form body.";
  return { ...operation, description: [operation.description, also].filter(Boolean).join(". ") };
}

/** Returns the operation without an action ("") and with each of its actions; itself, if it has none. */
function splitActions(operation: Operation): readonly (readonly [action: string, operation: Operation])[] {
  const known = ACTIONS[operation.operationId];
  if (known === undefined) return [["", operation]];
  const named = operation.parameters?.find(({ name }) => name === "action")?.schema?.enum ?? [];
  return ["", ...named].map((action) => [action, describe(operation, action, known[action])] as const);
}

/** An action that the table lacks keeps everything that the operation has. */
function describe(operation: Operation, action: string, found: Action | undefined): Operation {
  const { parameters: all = [], requestBody, ...rest } = operation;
  const parameters = all.filter(
    ({ name }) =>
      name !== "action" && (name.startsWith("X-") || found === undefined || found.parameters.includes(name)),
  );
  const body = requestBody === undefined ? undefined : chooseBody(requestBody, found?.body ?? "whole");
  return {
    ...rest,
    operationId: action === "" ? operation.operationId : `${operation.operationId}_${action}`,
    summary: found?.summary ?? `${operation.summary}: ${action}`,
    parameters,
    ...(body === undefined ? {} : { requestBody: body }),
  };
}

function chooseBody(
  requestBody: NonNullable<Operation["requestBody"]>,
  body: Action["body"],
): Operation["requestBody"] | undefined {
  if (body === "none") return undefined;
  if (body === "whole") return requestBody;
  const content = Object.entries(requestBody.content).map(([type, { schema, ...media }]) => {
    const { anyOf } = schema as { readonly anyOf?: readonly object[] };
    // The example is that of the first alternative.
    return [type, { ...(body === 0 ? media : {}), schema: anyOf?.[body] ?? schema }] as const;
  });
  return { ...requestBody, content: Object.fromEntries(content) };
}
