import { Type, type TProperties } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { hasScope } from "#control-plane/access/principal.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { DocumentPart } from "#control-plane/document-part.ts";
import type { History } from "#control-plane/history/history.ts";
import { historyAction } from "#control-plane/history/routes.ts";
import { readBody } from "#control-plane/http/body.ts";
import { absentMessage, Refusal, refuseField, requireFound, requireRead } from "#control-plane/http/errors.ts";
import { outOfScope, type Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, pageOf, readId, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { SentFile, sendFile } from "#control-plane/http/sent-file.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { TestMails } from "#control-plane/mail/test-mail/test-mails.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { createImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { changeOf, readPost } from "#control-plane/monitors/routes/post.ts";
import {
  CREATED,
  EXPORT_QUERY,
  importedSchema,
  MONITOR_WITH_CHECKS,
  POST_QUERY,
  READ,
  readActionSchema,
  RUN,
} from "#control-plane/monitors/routes/schemas.ts";
import { MAIL_TESTED, sendTestMail } from "#control-plane/monitors/routes/test-mail.ts";
import { CHANGE, CREATE } from "#control-plane/monitors/settings/fields.ts";
import { parseChange } from "#control-plane/monitors/settings/parse.ts";
import { documentSchema, VERSION } from "#control-plane/monitors/transfer/document.ts";
import type { MonitorView } from "#control-plane/monitors/view.ts";
import type { Pictures } from "#control-plane/pictures/pictures.ts";
import { pictureAction } from "#control-plane/pictures/routes.ts";

const URL = "/api/v4/monitors";
const TAG = "Monitors";
/** Maximum size of a document to import, in bytes (4 MiB): larger than other bodies, so that 1,000 rows fit. */
const DOCUMENT_LIMIT = 4_194_304;

/** Dependencies of the routes. */
export interface MonitorRoutesDeps {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly monitors: Monitors;
  readonly testMails: TestMails;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly history: Pick<History, "readPoints">;
  readonly pictures: Pick<Pictures, "find">;
  /** The lists of an export and an import beside the monitors. */
  readonly parts: readonly DocumentPart[];
}

/** Registers GET, POST, PUT and DELETE /api/v4/monitors. */
export function registerCurrent(server: FastifyInstance, deps: MonitorRoutesDeps): void {
  const keyed = deps.gate.keyed({ scope: "monitors" });
  registerReading(server, deps.gate.keyed({ scope: "monitors:read" }), deps);
  registerCreation(server, keyed, deps);
  registerChange(server, keyed, deps);
  registerRemoval(server, keyed, deps);
}

type Keyed = ReturnType<Gate["keyed"]>;

function registerReading(server: FastifyInstance, keyed: Keyed, deps: MonitorRoutesDeps): void {
  const { monitors, parts } = deps;
  const readActions = [historyAction(deps.history, deps.clock), pictureAction(deps.pictures)];
  const actions = readActionSchema(readActions.map(({ name }) => name));
  const fields = Object.assign({}, ...readActions.map(({ query }) => query)) as TProperties;
  server.route({
    ...keyed,
    method: "GET",
    url: URL,
    schema: operation({
      id: "read_monitors",
      tag: TAG,
      summary: "List your monitors, newest first, or get one by id with its newest checks",
      data: Type.Union([
        Type.Array(Type.Ref("Monitor#")),
        MONITOR_WITH_CHECKS,
        documentSchema(parts),
        ...readActions.flatMap(({ data }) => (typeof data === "string" ? [] : [data])),
      ]),
      files: readActions.flatMap(({ data }) => (typeof data === "string" ? [data] : [])),
      query: Type.Object({ ...READ.properties, ...actions.properties, ...EXPORT_QUERY.properties, ...fields }),
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request, reply) => {
      const { accountId } = callerOf(request);
      const { action } = readQuery(actions, request);
      const { id, status, tag, check_type: checkType, q: text, ...page } = readQuery(READ, request);
      if (action === "export") return sendExport(deps, request, reply);
      const read = readActions.find(({ name }) => name === action);
      if (read !== undefined || id !== undefined) {
        if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
        if (read !== undefined) {
          if (!(await monitors.has(accountId, id))) throw new Refusal("not_found", absentMessage("monitor"));
          const data = await read.run(request, { accountId, id });
          return data instanceof SentFile ? sendFile(request, reply, data) : answer(request, data);
        }
        const found = requireFound(await monitors.find(accountId, id), "monitor");
        return answer(request, { ...shownTo(request, found.monitor), checks: found.checks });
      }
      const paged = pageOf(page);
      const { rows, total } = await monitors.list(accountId, { status, tag, checkType, text }, paged);
      const shown = rows.map((monitor) => shownTo(request, monitor));
      return answer(request, shown, { pagination: paged.pagination(total) });
    },
  });
}

/** Reports whether the caller only reads. */
function isReader(request: FastifyRequest): boolean {
  return !hasScope(callerOf(request).scopes, "monitors");
}

/** Returns a monitor as the caller sees it: who only reads must not send pings, for which the address is enough. */
function shownTo(request: FastifyRequest, monitor: MonitorView): MonitorView {
  return isReader(request) ? { ...monitor, heartbeat_url: null } : monitor;
}

/** Sends the document of an account. If it has secrets, the log of changes says so. */
function sendExport(
  { writes, monitors, parts }: MonitorRoutesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { accountId } = callerOf(request);
  const withSecrets = readQuery(EXPORT_QUERY, request).secrets === "include";
  if (withSecrets && isReader(request)) throw outOfScope("monitors", callerOf(request));
  return writes.run(request, reply, async (tx) => {
    const { rows, names } = await monitors.exportRows(tx, accountId, withSecrets);
    const lists = new Map<string, readonly object[]>();
    for (const part of parts) {
      // oxlint-disable-next-line no-await-in-loop -- one connection
      lists.set(part.name, await part.export(tx, accountId, (id) => names.get(id)));
    }
    return {
      data: { version: VERSION, monitors: rows, ...Object.fromEntries(lists) },
      changes: withSecrets ? [{ resource: "monitor", id: null, action: "shown" }] : [],
    };
  });
}

function registerCreation(server: FastifyInstance, keyed: Keyed, deps: MonitorRoutesDeps): void {
  const { writes, monitors, parts } = deps;
  const bodies = createImportBodies();
  server.addHook("onClose", async () => bodies.close());
  server.route({
    ...keyed,
    method: "POST",
    url: URL,
    bodyLimit: DOCUMENT_LIMIT,
    schema: operation({
      id: "create_monitor",
      tag: TAG,
      summary:
        "Create a monitor, check one now, replace a heartbeat's address, accept a picture, test its mails, or import many",
      description:
        "The first check of a new monitor is made at once. An import makes your account have what its document has, all " +
        "or nothing, and names every problem: the monitors, the status pages and the maintenance windows that it has " +
        "are created or changed, and others stay as they are. A secret that a row leaves out is that of your monitor " +
        "with this name; without one the monitor is paused, with a warning.",
      status: 201,
      data: Type.Union([CREATED, importedSchema(parts)]),
      otherwise: [
        { status: 200, data: Type.Union([CREATED, importedSchema(parts), MAIL_TESTED]) },
        { status: 202, data: RUN },
      ],
      query: POST_QUERY,
      body: Type.Union([CREATE, documentSchema(parts)], {
        examples: [{ url: "https://example.com", interval_minutes: 5 }],
      }),
      errors: [
        "missing_parameter",
        "target_not_allowed",
        "plan_limit_exceeded",
        "not_found",
        "payload_too_large",
        "probe_unavailable",
      ],
      isWrite: true,
    }),
    handler: async (request, reply) => {
      const { action, id } = readQuery(POST_QUERY, request);
      if (action === "test-mail") return sendTestMail(deps, request, reply, id);
      return writes.run(request, reply, await readPost({ monitors, bodies, parts }, request));
    },
  });
}

function registerChange(server: FastifyInstance, keyed: Keyed, { writes, monitors }: MonitorRoutesDeps): void {
  server.route({
    ...keyed,
    method: "PUT",
    url: URL,
    schema: operation({
      id: "update_monitor",
      tag: TAG,
      summary: "Change a monitor: any of its fields",
      description:
        "With a new url, check_type or port its status is unknown until the next check, which is made at once. " +
        "is_active false pauses it. A url of another scheme, host or port removes request_headers and body, also " +
        "masked ones (****), unless their values come with it; meta.warnings names what was removed.",
      data: Type.Ref("Monitor#"),
      query: IdQuery,
      body: CHANGE,
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "not_found"],
      isWrite: true,
    }),
    handler: async (request, reply) => {
      const { accountId } = callerOf(request);
      const id = readId(request);
      const given = requireRead(parseChange(readBody(request), "current"));
      const statistics = await monitors.statisticsOf({ accountId, id });
      return writes.run(request, reply, async (tx) => {
        const changed = requireWritten(await monitors.change(tx, { accountId, id }, given, statistics));
        return {
          data: changed.monitor,
          changes: [changeOf(id, "changed")],
          warnings: changed.removed.map(warnOfRemoval),
        };
      });
    },
  });
}

function warnOfRemoval(field: string): Warning {
  const parameter = field.slice(0, LONGEST_PARAMETER);
  const message = `"${parameter}" was removed, because the url leads to another origin: send it again with the url.`;
  return { parameter, message, did_you_mean: null };
}

function registerRemoval(server: FastifyInstance, keyed: Keyed, { writes, monitors }: MonitorRoutesDeps): void {
  server.route({
    ...keyed,
    method: "DELETE",
    url: URL,
    schema: operation({
      id: "delete_monitor",
      tag: TAG,
      summary: "Delete a monitor with its history",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const id = readId(request);
      return writes.run(request, reply, async (tx) => ({
        data: { id: requireWritten(await monitors.remove(tx, { accountId, id })), deleted: true },
        changes: [changeOf(id, "deleted")],
      }));
    },
  });
}
