import { Type, type TProperties } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import { hasScope } from "#control-plane/http/access/principal.ts";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import { historyAction } from "#control-plane/outages/history/routes.ts";
import { absentMessage, Refusal, refuseField, requireFound } from "#control-plane/http/errors.ts";
import { outOfScope, type Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { SentFile, sendFile } from "#control-plane/http/sent-file.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { EXPORT_QUERY, READ, readActionSchema } from "#control-plane/monitors/routes/queries.ts";
import { MONITOR_WITH_CHECKS } from "#control-plane/monitors/routes/schemas.ts";
import { documentSchema, VERSION } from "#control-plane/monitors/transfer/document.ts";
import { warnOfSend } from "#control-plane/monitors/send-rule.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { Pictures } from "#control-plane/watching/pictures/pictures.ts";
import { pictureAction } from "#control-plane/watching/pictures/routes.ts";

/** Path of the monitors. */
export const MONITORS_URL = "/api/v4/monitors";
/** Their place in the API document. */
export const TAG = "Monitors";

/** Dependencies of the reads. */
export interface ReadRoutesDeps extends Pick<App, "clock"> {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly monitors: Monitors;
  readonly history: Pick<History, "readPoints">;
  readonly pictures: Pick<Pictures, "find">;
  /** The lists of an export and an import beside the monitors. */
  readonly parts: readonly DocumentPart[];
}

/** Registers GET /api/v4/monitors. */
export function registerReads(server: FastifyInstance, deps: ReadRoutesDeps): void {
  const { gate, monitors, parts } = deps;
  const readActions = [historyAction(deps.history, deps.clock), pictureAction(deps.pictures)];
  const actions = readActionSchema(readActions.map(({ name }) => name));
  const fields = Object.assign({}, ...readActions.map(({ query }) => query)) as TProperties;
  server.route({
    ...gate.keyed({ scope: "monitors:read" }),
    method: "GET",
    url: MONITORS_URL,
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
        const data = { ...shownTo(request, found.monitor), checks: found.checks };
        return answer(request, data, undefined, warnOfSend(found.monitor));
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
  { writes, monitors, parts }: ReadRoutesDeps,
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
      extras: { monitor_ids: [...names.keys()] },
      changes: withSecrets ? [{ resource: "monitor", id: null, name: null, action: "shown" }] : [],
    };
  });
}
