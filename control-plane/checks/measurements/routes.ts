import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseParams } from "#shared/schema/schema.ts";
import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import { readBody } from "#control-plane/http/body.ts";
import { Refusal, refuseField, requireRead } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { warningsFor } from "#control-plane/http/warnings.ts";
import type { Write, Writes } from "#control-plane/http/writes.ts";
import { isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";
import type { FoundMeasurement, Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { CANCEL, CREATE, CREATED, LISTED, READ, SHOWN, SWITCHES } from "#control-plane/checks/measurements/schemas.ts";
import { showMeasurement, showSummary } from "#control-plane/checks/measurements/serialize.ts";
import { openEventStream, replyWithStream, wantsEvents } from "#control-plane/http/event-stream.ts";
import { readableTools, requireTool } from "#control-plane/checks/tool-requests/tool-scope.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { measurementBody } from "#control-plane/checks/measurements/body-schema.ts";
import { readLocations } from "#control-plane/checks/tool-requests/read-request.ts";

const URL = "/api/v4/measurements";
const TAG = "Measurements";

/** Registers POST, GET and DELETE /api/v4/measurements. The documentation names the tools that a measurement can run. */
export function registerMeasurements(
  server: FastifyInstance,
  contracts: readonly Contract[],
  {
    checks,
    gate,
    writes,
    measurements,
  }: {
    readonly checks: CheckContext;
    readonly gate: Gate;
    readonly writes: Writes;
    readonly measurements: Measurements;
  },
): void {
  // The key needs the scope of the tool, which the body or the stored measurement names.
  const keyed = gate.keyed({ scope: null });

  server.route({
    ...keyed,
    method: "POST",
    url: URL,
    schema: operation({
      id: "create_measurement",
      tag: TAG,
      summary: "Create a measurement: run a tool in the background at one or many locations",
      description:
        "The key needs the scope of the tool. Poll or stream poll_url. A measurement survives restarts of the service.",
      status: 202,
      data: CREATED,
      otherwise: [{ status: 200, data: Type.Ref("DryRun#") }],
      query: SWITCHES,
      body: measurementBody(contracts),
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "probe_unavailable"],
      isWrite: true,
    }),
    handler: (request, reply) => writes.run(request, reply, readCreation({ checks, measurements }, request)),
  });

  server.route({
    ...keyed,
    method: "GET",
    url: URL,
    schema: operation({
      id: "read_measurements",
      tag: TAG,
      summary: "List your measurements, newest first, or get one by id",
      description:
        "The key needs the scope of the tool; a list has the measurements whose scopes the key has. " +
        "With id and Accept: text/event-stream the response streams the events of the measurement, past and new. " +
        "Last-Event-ID resumes after the event with that id, at any replica.",
      data: Type.Union([Type.Array(LISTED), SHOWN]),
      query: READ,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request, reply) => {
      const { accountId } = callerOf(request);
      const { id, ...fields } = readQuery(READ, request);
      if (id !== undefined) {
        const found = requireFound(await measurements.find(accountId, id));
        requireTool(callerOf(request), measurements.contract(found.measurement.tool));
        if (wantsEvents(request)) return stream(measurements, found, request, reply);
        return answer(request, show(measurements, found));
      }
      const page = pageOf(fields);
      const { rows, total } = await measurements.list(accountId, readableTools(callerOf(request), contracts), page);
      const data = rows.map((row) => showSummary(row, row.total, row.completed));
      return answer(request, data, { pagination: page.pagination(total) });
    },
  });

  server.route({
    ...keyed,
    method: "DELETE",
    url: URL,
    schema: operation({
      id: "cancel_measurement",
      tag: TAG,
      summary: "Cancel a measurement; no effect on one that has ended",
      data: SHOWN,
      query: CANCEL,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const { id } = readQuery(CANCEL, request);
      return writes.run(request, reply, async (tx) => {
        const found = requireFound(await measurements.cancel(tx, accountId, id));
        requireTool(callerOf(request), measurements.contract(found.measurement.tool));
        return { data: show(measurements, found), changes: [] };
      });
    },
  });
}

/** Parses a creation request. Returns the write that vets the target and stores the measurement. Throws Refusal. */
function readCreation(
  { checks, measurements }: { readonly checks: CheckContext; readonly measurements: Measurements },
  request: FastifyRequest,
): Write {
  const { accountId, plan } = callerOf(request);
  const contract = readTool(measurements, request);
  const body = readWrite(CREATE, request);
  const { dry_run: dryRun = body.dry_run ?? false, share = body.share ?? false } = readQuery(SWITCHES, request);
  const params = readParams(contract, body.params ?? {}, request);
  const items = readLocations(body.locations, "json");
  const call = { contract, params, accountId, locations: items, maxLocations: plan.locations };
  return async (tx) => {
    // Inside the write, so that all attempts with one idempotency key take the target's budget once.
    const checked = refuseUnanswered(
      withBodyPath(await runCheck(checks, { ...call, dryRun: true, reserves: !dryRun })),
    );
    if (checked.kind !== "dry_run") throw new Error("a dry run gave an answer");
    if (dryRun) return { data: { locations: checked.locations }, changes: [] };

    const places = [...checked.locations, ...checked.offline];
    const made = await measurements.create(tx, { accountId, contract, params, items, share }, places);
    const data = {
      id: made.id,
      status: "pending",
      tool: contract.name,
      total: places.length,
      poll_url: `${request.basePath}${URL}?id=${made.id}`,
      share_id: made.shareId,
    };
    const extras = made.shareId === null ? {} : { extras: { share_id: made.shareId } };
    return { status: 202, data, changes: [], ...extras };
  };
}

/** Reads the tool first: the key's scope for it is checked before anything else in the body. Throws Refusal. */
function readTool(measurements: Measurements, request: FastifyRequest): Contract {
  const parsed = parseParams(Type.Pick(CREATE, ["tool"]), readBody(request), { from: "json", unknown: "ignore" });
  const contract = measurements.contract(requireRead(parsed).tool);
  if (contract === undefined) {
    const message = "no such tool; GET /api/v4/tools lists the tools";
    throw refuseField({ field: "tool", reason: "enum", message });
  }
  requireTool(callerOf(request), contract);
  return contract;
}

/** Parses the tool's parameters. Notes unknown fields on the request as warnings. Throws Refusal. */
function readParams(contract: Contract, raw: unknown, request: FastifyRequest): Readonly<Record<string, unknown>> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw refuseField({ field: "params", reason: "type", message: "must be an object" });
  }
  const given = raw as Record<string, unknown>;
  request.ignored = warningsFor(given, Object.keys(contract.params.properties), { path: "params" });
  const parsed = parseToolParams(contract, given, { from: "json", unknown: "ignore" });
  if (!parsed.ok) throw refuseField({ ...parsed.problem, field: `params.${parsed.problem.field}` });
  return parsed.value;
}

/** Names a wrong parameter by its path in this body. */
function withBodyPath(answered: CheckAnswer): CheckAnswer {
  if (answered.kind !== "problem" || answered.problem.field === "locations") return answered;
  return { ...answered, problem: { ...answered.problem, field: `params.${answered.problem.field}` } };
}

function show(measurements: Measurements, { measurement, locations }: FoundMeasurement) {
  return showMeasurement(measurement, locations, measurements.contract(measurement.tool));
}

function requireFound(found: FoundMeasurement | null): FoundMeasurement {
  if (found === null) throw new Refusal("not_found", "No measurement has this id, or it has expired.");
  return found;
}

/** Streams past and new events. The last one, `done`, has the number after them and holds the whole answer. */
function stream(
  measurements: Measurements,
  { measurement }: FoundMeasurement,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const after = lastEventId(request);
  // EventSource (WHATWG HTML 9.2.4): 204 makes a client that has already received `done` stop reconnecting.
  if (isFinal(measurement.status) && after > measurement.events) return reply.code(204).send();
  // Each event waits until the client has taken the one before, so few events wait in memory at the same time.
  const events = openEventStream(() => null);
  const send = async (): Promise<void> => {
    for await (const { number, event, data } of measurements.tail(measurement.id, after, events.dropped)) {
      events.send(event, data, number);
      await events.drained();
    }
    const ended = await measurements.find(measurement.accountId, measurement.id);
    if (ended !== null && isFinal(ended.measurement.status)) {
      events.send("done", answer(request, show(measurements, ended)), ended.measurement.events + 1);
    }
  };
  // If the database is away the stream just ends: the client reconnects with its Last-Event-ID.
  void send()
    .catch(() => {})
    .finally(() => events.end());
  return replyWithStream(reply, events);
}

function lastEventId(request: FastifyRequest): number {
  const given = request.headers["last-event-id"];
  return typeof given === "string" && /^\d{1,9}$/.test(given) ? Number(given) : 0;
}
