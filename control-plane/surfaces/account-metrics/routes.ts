import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { chooseCoding } from "#control-plane/http/accept-encoding.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { MOST_SAMPLES } from "#control-plane/surfaces/account-metrics/families.ts";
import type { ScrapeAccount } from "#control-plane/surfaces/account-metrics/scrape.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
/** Smaller texts are not compressed, octets. */
const WORTH_CODING = 1_400;

const QUERY = Type.Object({
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, examples: ["env:prod"], description: "Only monitors with this tag" }),
  ),
});

/** Registers GET /api/v4/metrics: everything that the newest checks say about the caller's monitors, for Prometheus. */
export function registerAccountMetrics(
  server: FastifyInstance,
  { gate, scrape }: { readonly gate: Gate; readonly scrape: ScrapeAccount },
): void {
  server.route({
    ...gate.keyed({ scope: "monitors:read" }),
    method: "GET",
    url: "/api/v4/metrics",
    schema: operation({
      id: "metrics",
      tag: "Prometheus",
      summary: "Metrics of all monitors of the account",
      description:
        "Prometheus sends the key as Bearer token. Each series names its monitor (monitor_id, monitor), and " +
        "those of checks their location. A value that is not known has no series. A scrape has at most " +
        `${MOST_SAMPLES} samples, counted as if every value were known: monitors beyond it are left out by id, the newest ` +
        "first, and vantage_metrics_omitted_monitors is their number. Each scrape counts as one request; those of the same " +
        "second have the same answer.",
      data: Type.String({ description: "Prometheus text format 0.0.4" }),
      plain: "text/plain",
      query: QUERY,
      errors: ["missing_parameter"],
    }),
    handler: async (request, reply) => {
      const { tag = null } = readQuery(QUERY, request);
      const { text, compressed } = await scrape(callerOf(request).accountId, tag);
      reply.headers({ "content-type": CONTENT_TYPE, "cache-control": "no-store", vary: "accept-encoding" });
      const coding = chooseCoding(request.headers["accept-encoding"], ["gzip"]);
      if (coding !== "gzip" || text.length < WORTH_CODING) return reply.send(text);
      return reply.header("content-encoding", "gzip").send(await compressed());
    },
  });
}
