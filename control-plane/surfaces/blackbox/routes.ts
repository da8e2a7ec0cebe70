import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { refuseField, type Refusal } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { outcomeSamples, renderSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import type { Module } from "#control-plane/surfaces/blackbox/module.ts";
import { readScrape } from "#control-plane/surfaces/blackbox/read-scrape.ts";
import { causeSamples, readAnswer, type ScrapeResult } from "#control-plane/surfaces/blackbox/scrape-result.ts";
import { icmp, tcpConnect, tlsConnect } from "#control-plane/surfaces/blackbox/connection-modules.ts";
import { dnsModule } from "#control-plane/surfaces/blackbox/dns-modules.ts";
import { httpModule } from "#control-plane/surfaces/blackbox/http-modules.ts";

/** Every module of GET /api/v4/probe, named as in the exporter's example configuration. */
export const MODULES: ReadonlyMap<string, Module> = new Map(
  [
    httpModule("http_2xx", "GET"),
    httpModule("http_post_2xx", "POST"),
    tcpConnect,
    tlsConnect,
    icmp,
    dnsModule("dns_udp", "udp"),
    dnsModule("dns_tcp", "tcp"),
    // The exporter has no encrypted DNS; the metrics are the same as for dns_udp.
    dnsModule("dns_dot", "dot"),
    dnsModule("dns_doh", "doh"),
  ].map((module) => [module.name, module]),
);

/** Default module, as in the exporter. */
const DEFAULT_MODULE = "http_2xx";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const QUERY = Type.Object({
  target: Type.String({
    examples: ["https://example.com"],
    description:
      "URL, host or host:port, as the module requires; http_*: example.org means http://example.org; dns_*: the name server",
  }),
  module: Type.Optional(
    Type.Enum([...MODULES.keys()], { default: DEFAULT_MODULE, description: "Module: the check to run" }),
  ),
  region: Type.Optional(
    Type.String({ description: "Location to probe from, one expression as in `locations`; default: any probe" }),
  ),
  query_name: Type.Optional(Type.String({ description: "dns_*: name to query" })),
  query_type: Type.Optional(Type.String({ description: "dns_*: record type, default A" })),
});

/**
 * Registers GET /api/v4/probe: blackbox_exporter's /probe with a region. A failed target is 200; the answer is an error
 * only if no probe could run the check, so that Prometheus' `up` distinguishes our failure from the target's.
 */
export function registerBlackbox(server: FastifyInstance, app: CheckContext, gate: Gate): void {
  server.route({
    method: "GET",
    url: "/api/v4/probe",
    schema: operation({
      id: "probe",
      tag: "Prometheus",
      summary: "Probe a target and return blackbox_exporter metrics",
      description:
        "An existing scrape configuration for blackbox_exporter works if you set this address, the key as Bearer token " +
        "and a region. Metric names are those of blackbox_exporter. A failed target is 200 with probe_success 0.",
      data: Type.String({ description: "Prometheus text format 0.0.4" }),
      plain: "text/plain",
      query: QUERY,
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "probe_unavailable"],
    }),
    handler: async (request, reply) => {
      const query = request.query as Readonly<Record<string, unknown>>;
      const named = query["module"] ?? DEFAULT_MODULE;
      const module = typeof named === "string" ? MODULES.get(named) : undefined;
      const scope = module?.contract.scope ?? null;
      const { accountId, plan } = await gate.admit(request, reply, { scope });
      if (module === undefined) throw refuseModule();
      const probe = await scrape(app, module, request, reply, { accountId, maxLocations: plan.locations });
      return reply.type(CONTENT_TYPE).header("cache-control", "no-store").send(probe);
    },
  });
}

async function scrape(
  app: CheckContext,
  module: Module,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: { readonly accountId: number; readonly maxLocations: number },
): Promise<string> {
  const header = request.headers["x-prometheus-scrape-timeout-seconds"];
  const read = readScrape(
    module,
    request.query as Readonly<Record<string, unknown>>,
    typeof header === "string" ? header : undefined,
  );
  if (!read.ok) throw refuseField(read.problem);
  const { params, call, locations, timeoutMs } = read.scrape;
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  const late = timeoutMs === null ? null : AbortSignal.timeout(timeoutMs);
  const startedAt = request.monotonic();
  const answer = await runCheck(app, {
    ...caller,
    contract: module.contract,
    params,
    ...(call.input === undefined ? {} : { input: call.input }),
    ...(call.reaches === undefined ? {} : { reaches: call.reaches }),
    locations,
    signal: late === null ? gone.signal : AbortSignal.any([gone.signal, late]),
  });
  const seconds = (request.monotonic() - startedAt) / 1000;
  return renderSamples(samplesOf(module, readAnswer(answer, late?.aborted === true), seconds));
}

function samplesOf(module: Module, verdict: ScrapeResult, elapsedSeconds: number): readonly Sample[] {
  switch (verdict.kind) {
    case "data": {
      const { failure, seconds, samples } = module.report(verdict.data);
      const cause = failure === null ? [] : causeSamples(failure);
      return [...samples, ...outcomeSamples(failure === null, seconds ?? elapsedSeconds), ...cause, ...verdict.where];
    }
    case "failed":
      return [...module.failure, ...outcomeSamples(false, elapsedSeconds), ...verdict.where];
  }
}

function refuseModule(): Refusal {
  const message = `must be one of ${[...MODULES.keys()].join(", ")}`;
  return refuseField({ field: "module", reason: "enum", message });
}
