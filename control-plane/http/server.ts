import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { fastify, type FastifyInstance, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Random } from "#shared/time/clock.ts";
import { cutStalledClients, type StallOptions } from "#shared/process/stalled-clients.ts";
import type { App } from "#control-plane/core/app.ts";
import { placeAnswers, withoutBasePath } from "#control-plane/http/base-path.ts";
import { acceptBodies, BODY_LIMIT } from "#control-plane/http/body.ts";
import { createClientAddress } from "#control-plane/http/connection/client-address.ts";
import { answerBrokenRequest } from "#control-plane/http/connection/unparsable-request.ts";
import { createErrorHandler, notFound } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { observeRequests } from "#control-plane/http/observe-requests.ts";
import { acceptLiteralPath } from "#control-plane/http/connection/literal-path.ts";
import { refuseHost } from "#control-plane/http/connection/host-field.ts";
import { createPipelineLimits } from "#control-plane/http/connection/pipelining.ts";
import { awaitRestOfBody } from "#control-plane/http/connection/rest-of-body.ts";
import { createRegisteredRoutes, type RegisteredRoutes } from "#control-plane/http/operations/registered-routes.ts";
import { isDeprecated, deprecationHeaders, versionOfPath } from "#control-plane/http/versions.ts";
import type { Metrics } from "#control-plane/core/metrics.ts";

/**
 * Returns the target of a request in origin form. The host of a target in absolute form takes the place of that in the
 * Host field, which does not count then (RFC 9112, section 3.2.2). `*` becomes a path without a route.
 */
function readTarget(request: IncomingMessage): string {
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

/** Dependencies of the HTTP server. */
export interface ServerDeps extends Pick<App, "clock" | "random" | "log" | "metrics"> {
  readonly config: {
    /** CIDR list; [] ignores X-Forwarded-For. */
    readonly trustedProxies: readonly string[];
    /** From this time on v1 and v2 answer 410. */
    readonly v1V2Sunset: Date;
  };
  /**
   * Returns the path before all paths of the service at a host, such as "/vantage"; "": its root is that of the host. Default:
   * it is that of every host.
   */
  readonly basePathOf?: (host: string) => string;
  /** Refuses requests before everything else, also those for paths without a route. Default: none. */
  readonly refuse?: (request: FastifyRequest) => Refusal | undefined;
}

/** Certificate chain and private key, PEM. */
interface ServerTls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Reads the files of a certificate; without any, the listener is in clear. */
export function readTls(tls: { readonly certFile: string; readonly keyFile: string } | null): ServerTls | undefined {
  return tls === null ? undefined : { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) };
}

// Timeouts: 10 s for the headers and 30 s for the whole request, checked every 5 s; 72 s between two requests.
const NODE_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 72_000,
  requireHostHeader: false,
};
// The same timeout as for headers; Node's default is 120 s.
const TLS_OPTIONS = { handshakeTimeout: 10_000 };

/**
 * Creates the HTTP server without routes. It does what every request needs: a request id, errors in the shape of the
 * API version, 404 and 405 before anything else, limits for bodies and waits.
 */
export function createServer(deps: ServerDeps, tls?: ServerTls, stall?: StallOptions): FastifyInstance {
  const { clock, random, log, metrics, config, refuse, basePathOf } = deps;
  const nextId = createRequestIds(random);
  const routes = createRegisteredRoutes();
  const handleError = createErrorHandler(log, metrics, (request) => routes.rendererOf(pathOf(request.raw.url ?? "/")));
  const monotonic = (): number => clock.monotonic();
  const clientAddress = createClientAddress(config.trustedProxies);
  const pipelines = createPipelineLimits();

  /** Sets the fields of a request and the headers of its answer that do not depend on the route. */
  function receive(request: FastifyRequest, setHeader: (name: string, value: string) => void): void {
    request.startedAt = clock.monotonic();
    request.clientAddress = clientAddress(request.socket.remoteAddress, forwardedFor(request));
    request.basePath = basePathOf?.(request.headers.host ?? "") ?? "";
    setHeader("x-request-id", request.id);
    const target = request.raw.url ?? "";
    const version = versionOfPath(target);
    request.apiVersion = version;
    if (isDeprecated(version)) {
      const fields = deprecationHeaders(target, config.v1V2Sunset, request.basePath);
      for (const [name, value] of Object.entries(fields)) setHeader(name, value);
    }
  }

  function refuseSunset({ apiVersion }: FastifyRequest): Refusal | undefined {
    return isDeprecated(apiVersion) && clock.now() >= config.v1V2Sunset ? gone(apiVersion) : undefined;
  }

  const server = fastify({
    serverFactory: (handler) => {
      const listener = pipelines.dropExcess(handler);
      if (tls === undefined) return createHttpServer(NODE_OPTIONS, listener);
      return createHttpsServer({ ...NODE_OPTIONS, ...TLS_OPTIONS, ...tls }, listener);
    },
    bodyLimit: BODY_LIMIT,
    logger: false,
    // Instead of Fastify's trustProxy, which accepts ports and invalid addresses: http/connection/client-address.ts.
    trustProxy: false,
    exposeHeadRoutes: false,
    // While the server closes, requests on open connections are still answered, with Connection: close.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    genReqId: nextId,
    rewriteUrl: (request) => {
      const target = readTarget(request);
      const basePath = basePathOf?.(request.headers.host ?? "") ?? "";
      return acceptLiteralPath(withoutSuffix(withoutBasePath(target, basePath)));
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, nextId()),
    // The router cannot parse the path: Fastify runs no decorators and no hooks for this request, and its query is null.
    frameworkErrors: (error, request, reply) => {
      Object.assign(request, { principal: null, counted: null, monotonic, ignored: null, query: {}, params: {} });
      receive(request, (name, value) => void reply.header(name, value));
      handleError(refuseSunset(request) ?? error, request, reply);
    },
  }) as FastifyInstance;

  server.decorateRequest("principal", null);
  server.decorateRequest("counted", null);
  server.decorateRequest("startedAt", 0);
  server.decorateRequest("clientAddress", "");
  server.decorateRequest("apiVersion", null);
  server.decorateRequest("basePath", "");
  server.decorateRequest("monotonic", monotonic);
  server.decorateRequest("ignored", null);
  acceptBodies(server);
  // Schemas of routes are documentation only: parseParams reads parameters, and answers are not validated.
  server.setValidatorCompiler(() => () => true);
  server.setSerializerCompiler(() => (data) => JSON.stringify(data));
  server.setErrorHandler(handleError);
  // Never reached: the hook below refuses unmatched requests before their bodies are read.
  server.setNotFoundHandler((request, reply) => handleError(notFound(), request, reply));
  setSecurityHeaders(server, tls !== undefined);
  server.addHook("onRoute", (route) => routes.add(route.method, route.url, route.config?.renderError));
  server.addHook("onRequest", (request, reply, done) => {
    receive(request, (name, value) => void reply.header(name, value));
    done();
  });
  const clients = cutStalledClients({ ...stall, onCut: reportStalled(log, metrics) });
  server.addHook("onClose", async () => clients.close());
  pipelines.install(server, (socket) => clients.watch(socket));
  server.addHook("onRequest", (request, _reply, done) => {
    const refusal = refuse?.(request) ?? refuseSunset(request);
    if (refusal !== undefined) done(refusal);
    else if (request.is404) done(unmatched(request, routes));
    else done(refuseHost(request.raw) ?? (isNameable(request.params) ? undefined : notFound()));
  });
  if (basePathOf !== undefined) placeAnswers(server);
  observeRequests(server, log, metrics);
  awaitRestOfBody(server);
  sendTogether(server);
  return server;
}

/** Returns a listener that logs and counts connections closed because the client does not read. */
function reportStalled(log: Logger, metrics: Metrics): (socket: Socket) => void {
  return ({ remoteAddress, writableLength }) => {
    metrics.httpStalled.inc();
    log.info(
      { address: remoteAddress, unsent_bytes: writableLength },
      "client does not read its response; connection closed",
    );
  };
}

function unmatched(request: FastifyRequest, routes: RegisteredRoutes): Refusal {
  const allow = routes.methodsOf(pathOf(request.raw.url ?? "/")).join(", ");
  if (allow === "") return notFound();
  return new Refusal("method_not_allowed", {
    message: `This path does not support ${request.method}. Use ${allow}.`,
    headers: { allow },
  });
}

function gone(version: "v1" | "v2"): Refusal {
  return new Refusal("gone", `API ${version} is switched off. Use /api/v4/ instead of /api/${version}/.`);
}

/** Returns X-Forwarded-For; Node joins several fields with commas. */
function forwardedFor({ headers }: FastifyRequest): string | undefined {
  const given = headers["x-forwarded-for"];
  return typeof given === "string" ? given : undefined;
}

/** Reports whether path parameters can be names: a name has no control characters, and PostgreSQL rejects NUL. */
function isNameable(params: unknown): boolean {
  return Object.values(params as Readonly<Record<string, string>>).every((value) => !CONTROL.test(value));
}

const CONTROL = /\p{Cc}/u;

/** Returns the path as the router matches it: without query, and with valid escapes decoded. */
function pathOf(target: string): string {
  const path = target.split("?", 1)[0] ?? target;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Removes `.php`: `/api/v4/check.php` is an alias of `/api/v4/check`, and so for every versioned path. */
function withoutSuffix(target: string): string {
  return target.startsWith("/api/v") ? target.replace(/^(\/api\/v\d\/[a-z0-9-]+)\.php(?=[/?#]|$)/, "$1") : target;
}

/**
 * Writes the answers that become ready in one turn of the event loop together at its end, without a timer. Waking a
 * waiting client costs more than the write, and so a client is woken once for all of them. Measured with 50 connections
 * on two cores: 1.6 times the rate of open tier answers.
 */
function sendTogether(server: FastifyInstance): void {
  let waiting: (() => void)[] = [];
  const sendAll = (): void => {
    const answers = waiting;
    waiting = [];
    for (const send of answers) send();
  };
  server.addHook("onSend", (_request, _reply, _payload, done) => {
    waiting.push(done);
    if (waiting.length === 1) setImmediate(sendAll);
  });
}

/**
 * Creates a generator of request ids: `req_`, 12 random characters for the process, and a counter. Ids are unique over
 * all replicas and restarts and sortable within one process. The client's X-Request-Id is not used, to keep client input
 * out of the logs.
 */
function createRequestIds(random: Random): () => string {
  const prefix = `req_${Buffer.from(random.bytes(9)).toString("base64url").replaceAll(/[-_]/g, "0")}`;
  let counter = 0;
  return () => {
    counter += 1;
    return prefix + counter.toString(36).padStart(6, "0");
  };
}

/** Headers of data answers: no scripts, no frames, no caching by intermediaries. */
const DATA = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

/** Policy of the API reference pages, which have their own scripts and styles and call only this server. */
const PAGES_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HSTS = "max-age=31536000; includeSubDomains";

/**
 * Sets the security headers of every answer; a route can override them. `secure` is true if this server itself uses
 * TLS.
 */
function setSecurityHeaders(server: FastifyInstance, secure: boolean): void {
  const names = Object.keys(DATA) as (keyof typeof DATA)[];
  server.addHook("onRequest", (request, reply, done) => {
    for (const name of names) reply.header(name, DATA[name]);
    if (secure) reply.header("strict-transport-security", HSTS);
    if (request.raw.url?.startsWith("/docs") === true) reply.header("content-security-policy", PAGES_POLICY);
    done();
  });
}
