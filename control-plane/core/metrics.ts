import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Metrics of HTTP and of rate limits. Other parts register theirs in the same registry. */
export interface Metrics {
  readonly registry: Registry;
  /** The label `route` is the route's pattern, never the requested path; "none" if no route matched. */
  readonly httpRequests: Histogram<"route" | "method" | "status">;
  readonly httpRefused: Counter<"code">;
  readonly httpStalled: Counter;
  readonly limitStatements: Counter;
  readonly limitRequests: Counter;
}

/** Values read at each scrape. */
interface MetricsSources {
  /** Returns the database's clock minus the host's clock in milliseconds. */
  clockOffsetMs(): number;
}

/** Creates the registry of the process. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  registry.registerMetric(
    new Gauge({
      name: "vantage_clock_offset_seconds",
      help: "Clock of the database minus clock of the host",
      registers: [],
      collect() {
        this.set(sources.clockOffsetMs() / 1_000);
      },
    }),
  );
  return {
    registry,
    httpRequests: new Histogram({
      name: "vantage_http_request_duration_seconds",
      help: "Time from the request's headers to the end of the answer",
      labelNames: ["route", "method", "status"],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
    httpRefused: new Counter({
      name: "vantage_http_refused_total",
      help: "Requests answered with an error, by error code",
      labelNames: ["code"],
      registers,
    }),
    httpStalled: new Counter({
      name: "vantage_http_stalled_total",
      help: "Connections closed because the client did not read its answer",
      registers,
    }),
    limitStatements: new Counter({
      name: "vantage_rate_limit_statements_total",
      help: "Database statements that counted requests",
      registers,
    }),
    limitRequests: new Counter({
      name: "vantage_rate_limit_requests_total",
      help: "Requests counted against account limits",
      registers,
    }),
  };
}
