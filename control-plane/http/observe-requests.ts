import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Metrics } from "#control-plane/metrics.ts";

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];

/** Routes whose every call is no news: asked by balancers once a second. */
const QUIET = new Set(["/healthz", "/readyz"]);

/** What a request comes to whose client left before the answer; nobody is sent this status (nginx's word for it). */
const ABANDONED = 499;

/**
 * One log line and one measurement for each request, answered or abandoned. Both name the route's pattern, never the path as called:
 * paths and queries hold targets, tokens and keys.
 */
export function observeRequests(server: FastifyInstance, log: Logger, metrics: Metrics): void {
  const observed = new WeakSet<FastifyRequest>();
  const observe = (request: FastifyRequest, statusCode: number): void => {
    // An abandoned request may still come to an answer that nobody hears.
    if (observed.has(request)) return;
    observed.add(request);
    const route = request.routeOptions.url ?? "none";
    const milliseconds = request.monotonic() - request.startedAt;
    const status = STATUS_CLASSES[Math.trunc(statusCode / 100)] ?? "";
    // A method is the client's word; those nobody serves are one.
    const method = request.is404 ? "other" : request.method;
    metrics.httpRequests.observe({ route, method, status }, milliseconds / 1_000);
    if (statusCode < 400 && QUIET.has(route)) return;
    log.info(
      {
        request_id: request.id,
        method: request.method,
        route,
        status: statusCode,
        duration_ms: Math.round(milliseconds),
        address: request.clientAddress,
        ...(request.principal === null ? {} : { account_id: request.principal.accountId }),
      },
      "request",
    );
  };
  server.addHook("onResponse", (request, reply, done) => {
    observe(request, reply.statusCode);
    done();
  });
  server.addHook("onRequestAbort", (request, done) => {
    observe(request, ABANDONED);
    done();
  });
}
