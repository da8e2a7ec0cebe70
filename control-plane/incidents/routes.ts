import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import type { Principal } from "#control-plane/access/principal.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import type { Events } from "#control-plane/events/events.ts";
import { Refusal, refuseField, requireFound } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdQuery, pageOf, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Write, Writes } from "#control-plane/http/writes.ts";
import { announceIncident } from "#control-plane/incidents/announcement.ts";
import {
  changeByHand,
  openByHand,
  readIncident,
  readIncidents,
  type ReadEvidence,
} from "#control-plane/incidents/incidents.ts";
import { CHANGE, DETAILS, INCIDENT, INCIDENTS_URL, OPEN, QUERY, READ_ONLY } from "#control-plane/incidents/schemas.ts";

const TAG = "Incidents";

/** Finds which of these ids belong to the account; unknown and foreign ids are missing. */
type OwnedIds = (sql: Queryable, accountId: number, ids: readonly number[]) => Promise<readonly number[]>;

/** Dependencies of the routes. */
interface IncidentRoutesDeps {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly monitorsOf: OwnedIds;
  readonly pagesOf: OwnedIds;
  readonly events: Events;
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
      summary: "Acknowledge an incident, add a note or an update, or change its title, impact or visibility",
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
  const monitorIds = [...new Set(body.monitor_ids)];
  const pageIds = [...new Set(body.page_ids)];
  if (monitorIds.length + pageIds.length === 0) {
    const message = "is required: name at least one monitor, or a status page in page_ids";
    throw refuseField({ field: "monitor_ids", reason: "required", message });
  }
  return async (tx) => {
    const { accountId } = caller;
    await requireOwned(tx, accountId, monitorIds, deps.monitorsOf, { field: "monitor_ids", what: "monitor" });
    await requireOwned(tx, accountId, pageIds, deps.pagesOf, { field: "page_ids", what: "status page" });
    const { title, text, status = "investigating", impact = "minor", public: isPublic = true } = body;
    const opened = { accountId, title, text, status, impact, isPublic, monitorIds, pageIds };
    const at = deps.clock.now();
    const author = { by: await deps.nameCaller(tx, caller), at };
    const incident = requireWritten(await openByHand(tx, opened, author));
    if (isPublic) await announceIncident(tx, deps.events, { accountId, at, isNew: true, incident, text });
    const { evidenceOf } = deps;
    const { id } = incident;
    return {
      status: 201,
      data: requireFound(await readIncident(tx, accountId, id, { now: at, evidenceOf }), "incident"),
      changes: [{ resource: "incident", id, name: incident.title, action: "created" }],
    };
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
    const at = deps.clock.now();
    const author = { by: await deps.nameCaller(tx, caller), at };
    const { accountId } = caller;
    const { incident, published, changed } = requireWritten(await changeByHand(tx, accountId, id, change, author));
    if (published !== null) await announceIncident(tx, deps.events, { accountId, at, incident, ...published });
    const { evidenceOf } = deps;
    return {
      data: requireFound(await readIncident(tx, accountId, id, { now: at, evidenceOf }), "incident"),
      changes: [{ resource: "incident", id, name: incident.title, action: "changed", changed }],
    };
  };
}

/** Refuses ids that the account does not have; the answer is the same for foreign and absent ones. */
async function requireOwned(
  tx: Transaction,
  accountId: number,
  ids: readonly number[],
  ownedIds: OwnedIds,
  { field, what }: { readonly field: string; readonly what: string },
): Promise<void> {
  if (ids.length === 0) return;
  const owned = new Set(await ownedIds(tx, accountId, ids));
  const missing = ids.find((id) => !owned.has(id));
  if (missing !== undefined) throw new Refusal("not_found", { field, message: `No ${what} has the id ${missing}.` });
}
