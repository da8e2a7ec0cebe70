import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import { hasScope } from "#control-plane/http/access/principal.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { refuseField, Refusal } from "#control-plane/http/errors.ts";
import { outOfScope, type Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { outcomeSamples, renderSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import { type FileModule, type Module, targetFailure, type Cause } from "#control-plane/surfaces/blackbox/module.ts";
import { icmp, tcpConnect, tlsConnect } from "#control-plane/surfaces/blackbox/connection-modules.ts";
import { dnsModule } from "#control-plane/surfaces/blackbox/dns-modules.ts";
import { httpModule } from "#control-plane/surfaces/blackbox/http-modules.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { CheckAnswer, CheckError, Location } from "#control-plane/checks/answer.ts";
import { queryFieldOf, readScrape } from "#control-plane/surfaces/blackbox/read-scrape.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";

/** The built-in modules of GET /api/v4/probe, named as in the exporter's example configuration. */
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

/** The plan of the operator's own keys. */
const OPERATORS_PLAN: PlanName = "captain";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const QUERY = Type.Object({
  target: Type.String({
    examples: ["https://example.com"],
    description:
      "URL, host or host:port, as the module requires; http_*: example.org means http://example.org; dns_*: the name server",
  }),
  module: Type.Optional(
    Type.String({
      default: DEFAULT_MODULE,
      description: `Module: the check to run. ${[...MODULES.keys()].join(", ")}, or one of the operator's file`,
    }),
  ),
  region: Type.Optional(
    Type.String({ description: "Location to probe from, one expression as in `locations`; default: any probe" }),
  ),
  query_name: Type.Optional(Type.String({ description: "dns_*: name to query" })),
  query_type: Type.Optional(Type.String({ description: "dns_*: record type, default A" })),
  hostname: Type.Optional(
    Type.String({ description: "Modules of the operator's file: Host of http, name in TLS of tcp" }),
  ),
});

/**
 * Registers GET /api/v4/probe: blackbox_exporter's /probe with a region. A failed target is 200; the answer is an error
 * only if no probe could run the check, so that Prometheus' `up` distinguishes our failure from the target's. A module
 * of the operator's file (`own`) stands above a built-in one.
 */
export function registerBlackbox(
  server: FastifyInstance,
  app: CheckContext,
  gate: Gate,
  own: ReadonlyMap<string, FileModule>,
): void {
  const everybodys = new Map<string, Module | FileModule>([
    ...MODULES,
    ...[...own].filter(([, { isForOperator }]) => !isForOperator),
  ]);
  const operators = new Map<string, Module | FileModule>([...MODULES, ...own]);
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
      const principal = await gate.admit(request, reply, { scope: null });
      const { accountId, plan } = principal;
      const modules = plan.name === OPERATORS_PLAN ? operators : everybodys;
      const module = typeof named === "string" ? modules.get(named) : undefined;
      if (module === undefined) throw refuseModule(modules.keys());
      const { scope } = module.contract;
      if (!hasScope(principal.scopes, scope)) throw outOfScope(scope, principal);
      const probe = await scrape(app, module, request, reply, { accountId, maxLocations: plan.locations });
      return reply.type(CONTENT_TYPE).header("cache-control", "no-store").send(probe);
    },
  });
}

async function scrape(
  app: CheckContext,
  module: Module | FileModule,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: { readonly accountId: number; readonly maxLocations: number },
): Promise<string> {
  const header = request.headers["x-prometheus-scrape-timeout-seconds"];
  const read = await readScrape(
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
  return renderResult(module, readAnswer(answer, late?.aborted === true), seconds);
}

function renderResult(module: Module | FileModule, verdict: ScrapeResult, elapsedSeconds: number): string {
  const { where } = verdict;
  if (verdict.kind === "failed") {
    return renderSamples([...module.failure, ...outcomeSamples(false, elapsedSeconds), ...where]);
  }
  if ("metrics" in module) return module.metrics(verdict.data) + renderSamples(where);
  const { failure, seconds, samples } = module.report(verdict.data);
  const cause = failure === null ? [] : causeSamples(failure);
  const outcome = outcomeSamples(failure === null, seconds ?? elapsedSeconds);
  return renderSamples([...samples, ...outcome, ...cause, ...where]);
}

function refuseModule(names: Iterable<string>): Refusal {
  const message = `must be one of ${[...names].join(", ")}`;
  return refuseField({ field: "module", reason: "enum", message });
}

/** Result of a scrape: data, or the failure of the target. */
type ScrapeResult =
  | { readonly kind: "data"; readonly data: unknown; readonly where: readonly Sample[] }
  | { readonly kind: "failed"; readonly where: readonly Sample[] };

/**
 * Reads the answer of a check. Failures of the target are a result; our own are thrown as Refusal. `late`: the scrape
 * timeout was reached, so a cancelled check counts as a timeout of the target.
 */
function readAnswer(answer: CheckAnswer, late: boolean): ScrapeResult {
  if (answer.kind === "cancelled" && late) {
    return { kind: "failed", where: causeSamples(targetFailure("response", "scrape_timeout")) };
  }
  if (answer.kind === "single") return readOutcome(answer.outcome, answer.location);
  if (answer.kind === "problem") {
    throw refuseField({ ...answer.problem, field: queryFieldOf(answer.problem.field) });
  }
  const answered = refuseUnanswered(answer);
  if (answered.kind !== "multi") throw new Error("a scrape is never a dry run");
  const [row, more] = answered.data.locations;
  if (row === undefined || more !== undefined) {
    const message = "must match exactly one probe: Prometheus reads one result per scrape";
    throw new Refusal("missing_parameter", { field: "region", reason: "range", message });
  }
  if (row.status === "ok") return { kind: "data", data: row.data, where: probeSamples(row.location) };
  return readError(row.error, row.location);
}

function readOutcome(outcome: Outcome<unknown>, location: Location): ScrapeResult {
  if (outcome.status === "ok") return { kind: "data", data: outcome.data, where: probeSamples(location) };
  if (outcome.status !== "failed" || outcome.source === "probe") {
    refuseUnanswered({ kind: "single", outcome, location, cached: false });
    throw new Error("refuseUnanswered returned for an outcome that is not ok");
  }
  return { kind: "failed", where: [...causeSamples(outcome), ...probeSamples(location)] };
}

function readError(error: CheckError, location: Location): ScrapeResult {
  const { code, stage, source, reason, message } = error;
  if (code !== "request_failed" || source === "probe" || stage === undefined || source === undefined) {
    // A failure of the probe is not a fact about the target: the scrape fails.
    throw new Refusal(code === "request_failed" ? "probe_unavailable" : code, {
      message,
      ...(reason === undefined ? {} : { reason }),
    });
  }
  return {
    kind: "failed",
    where: [...causeSamples({ stage, source, reason: reason ?? "unknown" }), ...probeSamples(location)],
  };
}

/** Returns the series with the cause of a failure. */
function causeSamples({ stage, source, reason }: Cause): readonly Sample[] {
  return [
    {
      name: "vantage_probe_failure_info",
      help: "Cause of the failure: the stage it reached, the party that failed, and the reason",
      labels: { stage, source, reason },
      value: 1,
    },
  ];
}

function probeSamples({ region, probe_id: probe, country, asn }: Location): readonly Sample[] {
  return [
    {
      name: "vantage_probe_info",
      help: "Probe that ran the check",
      labels: { region, probe_id: probe, country: country ?? "", asn: asn === null ? "" : String(asn) },
      value: 1,
    },
  ];
}
