import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Metrics } from "#control-plane/core/metrics.ts";

const STATUS_CLASSES = ["", "1xx", "2xx", "3xx", "4xx", "5xx"];

/** Routes whose successful calls are not logged: load balancers call them about once a second. */
const QUIET = new Set(["/healthz", "/readyz"]);

/** Logged status of a request whose client disconnected before the answer (as in nginx); it is never sent. */
const ABANDONED = 499;

/**
 * Writes one log line and one measurement for each request, answered or abandoned. Both contain the route's pattern,
 * not the path: paths and queries contain targets, tokens and keys.
 */
export function observeRequests(server: FastifyInstance, log: Logger, metrics: Metrics): void {
  const observed = new WeakSet<FastifyRequest>();
  const observe = (request: FastifyRequest, statusCode: number): void => {
    // An abandoned request can still get an answer, which is not sent.
    if (observed.has(request)) return;
    observed.add(request);
    const route = request.routeOptions.url ?? "none";
    const milliseconds = request.monotonic() - request.startedAt;
    const status = STATUS_CLASSES[Math.trunc(statusCode / 100)] ?? "";
    // Clients choose the method; unknown methods share one label to bound the number of series.
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
