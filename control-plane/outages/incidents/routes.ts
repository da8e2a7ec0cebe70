import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { Principal } from "#control-plane/http/access/principal.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { refuseField, requireFound } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdQuery, pageOf, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Write, Writes } from "#control-plane/http/writes.ts";
import { readIncident, readIncidents, type ReadEvidence } from "#control-plane/outages/incidents/incidents.ts";
import {
  CHANGE,
  DETAILS,
  INCIDENT,
  INCIDENTS_URL,
  OPEN,
  QUERY,
  READ_ONLY,
} from "#control-plane/outages/incidents/schemas.ts";
import { problemOfNames, type IncidentWrites, type WrittenIncident } from "#control-plane/outages/incidents/writes.ts";

const TAG = "Incidents";

/** Dependencies of the routes. */
interface IncidentRoutesDeps extends Pick<App, "sql" | "clock"> {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly incidents: IncidentWrites;
  readonly evidenceOf: ReadEvidence;
  /** Names the caller in timelines, e.g. "key deploy". */
  readonly nameCaller: (sql: Queryable, caller: Principal) => Promise<string>;
}

/** Registers GET, POST and PUT /api/v4/incidents. */
export function registerIncidents(server: FastifyInstance, deps: IncidentRoutesDeps): void {
  const keyed = deps.gate.keyed({ scope: "monitors" });
  server.route({
    ...deps.gate.keyed({ scope: "monitors:read" }),
    method: "GET",
    url: INCIDENTS_URL,
    schema: operation({
      id: "read_incidents",
      tag: TAG,
      summary: "List the incidents, newest first, or get one by id with its timeline and evidence",
      data: Type.Union([Type.Array(INCIDENT), DETAILS]),
      query: QUERY,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: (request) => readRequested(deps, request),
  });
  server.route({
    ...keyed,
    method: "POST",
    url: INCIDENTS_URL,
    schema: operation({
      id: "open_incident",
      tag: TAG,
      summary: "Open an incident by hand",
      description: "Incidents of monitors that are down open by themselves.",
      status: 201,
      data: DETAILS,
      body: OPEN,
      errors: ["missing_parameter", "not_found", "plan_limit_exceeded"],
      isWrite: true,
    }),
    handler: (request, reply) => deps.writes.run(request, reply, readOpening(deps, request)),
  });
  server.route({
    ...keyed,
    method: "PUT",
    url: INCIDENTS_URL,
    schema: operation({
      id: "change_incident",
      tag: TAG,
      summary: "Acknowledge an incident, add a note or an update, or change its title, impact, visibility or pages",
      data: DETAILS,
      query: IdQuery,
      body: CHANGE,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => deps.writes.run(request, reply, readChange(deps, request)),
  });
}

async function readRequested({ sql, clock, evidenceOf }: IncidentRoutesDeps, request: FastifyRequest): Promise<object> {
  const { accountId } = callerOf(request);
  const { id, monitor_id: monitorId, status, ...fields } = readQuery(QUERY, request);
  if (id !== undefined) {
    const found = await readIncident(sql, accountId, id, { now: clock.now(), evidenceOf });
    return answer(request, requireFound(found, "incident"));
  }
  const page = pageOf(fields);
  const filter = {
    ...(monitorId === undefined ? {} : { monitorId }),
    ...(status === undefined ? {} : { status }),
  };
  const { incidents, total } = await readIncidents(sql, accountId, filter, page, clock.now());
  return answer(request, incidents, { pagination: page.pagination(total) });
}

/** Reads the body of a POST; returns the write that opens the incident. */
function readOpening(deps: IncidentRoutesDeps, request: FastifyRequest): Write {
  const caller = callerOf(request);
  const body = readWrite(OPEN, request, READ_ONLY_OF_OPENING);
  // Before the key of idempotency is taken, as every problem of the body.
  const problem = problemOfNames(body);
  if (problem !== null) throw refuseField(problem);
  return async (tx) => {
    const writer = { accountId: caller.accountId, by: await deps.nameCaller(tx, caller) };
    const opened = requireWritten(await deps.incidents.open(tx, writer, body));
    return { status: 201, ...(await show(tx, deps, caller, opened)) };
  };
}

/** Fields of an incident that a POST ignores. */
const READ_ONLY_OF_OPENING = READ_ONLY.filter((field) => !Object.hasOwn(OPEN.properties, field));

/** Reads the id and the body of a PUT; returns the write that changes the incident. */
function readChange(deps: IncidentRoutesDeps, request: FastifyRequest): Write {
  const caller = callerOf(request);
  const id = readId(request);
  const change = readWrite(CHANGE, request, READ_ONLY);
  return async (tx) => {
    const writer = { accountId: caller.accountId, by: await deps.nameCaller(tx, caller) };
    const changed = requireWritten(await deps.incidents.change(tx, writer, id, change));
    return show(tx, deps, caller, changed);
  };
}

/** Reads an incident that was just written. */
async function show(
  tx: Transaction,
  { evidenceOf }: IncidentRoutesDeps,
  { accountId }: Principal,
  { id, at, changes }: WrittenIncident,
) {
  return { data: requireFound(await readIncident(tx, accountId, id, { now: at, evidenceOf }), "incident"), changes };
}
