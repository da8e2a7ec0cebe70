import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { readBody } from "#control-plane/http/body.ts";
import { requireRead } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, readId, readQuery } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { TestMails } from "#control-plane/notify/mail/test-mail/test-mails.ts";
import { BULK_BODY } from "#control-plane/monitors/bulk/fields.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { BULK_CHANGED, readBulk } from "#control-plane/monitors/routes/bulk.ts";
import { createImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { readPost } from "#control-plane/monitors/routes/post.ts";
import { POST_QUERY, PUT_QUERY } from "#control-plane/monitors/routes/queries.ts";
import { MONITORS_URL, registerReads, TAG, type ReadRoutesDeps } from "#control-plane/monitors/routes/read.ts";
import { CREATED, importedSchema, RUN } from "#control-plane/monitors/routes/schemas.ts";
import { sendTrial, TRIED } from "#control-plane/monitors/routes/try.ts";
import { MAIL_TESTED, sendTestMail } from "#control-plane/monitors/routes/test-mail.ts";
import { warnOfSend } from "#control-plane/monitors/send-rule.ts";
import { CHANGE, CREATE } from "#control-plane/monitors/settings/fields.ts";
import { parseChange } from "#control-plane/monitors/settings/parse.ts";
import { documentSchema } from "#control-plane/monitors/transfer/document.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";

/** Maximum size of a document to import, in bytes (4 MiB): larger than other bodies, so that 1,000 rows fit. */
const DOCUMENT_LIMIT = 4_194_304;

/** Dependencies of the routes. */
export interface MonitorRoutesDeps extends ReadRoutesDeps {
  readonly testMails: TestMails;
  readonly trials: Trials;
  readonly sql: Sql;
}

/** Registers GET, POST, PUT and DELETE /api/v4/monitors. */
export function registerCurrent(server: FastifyInstance, deps: MonitorRoutesDeps): void {
  const keyed = deps.gate.keyed({ scope: "monitors" });
  registerReads(server, deps);
  registerCreation(server, keyed, deps);
  registerChange(server, keyed, deps);
  registerRemoval(server, keyed, deps);
}

type Keyed = ReturnType<Gate["keyed"]>;

function registerCreation(server: FastifyInstance, keyed: Keyed, deps: MonitorRoutesDeps): void {
  const { writes, monitors, parts } = deps;
  const bodies = createImportBodies();
  server.addHook("onClose", async () => bodies.close());
  server.route({
    ...keyed,
    method: "POST",
    url: MONITORS_URL,
    bodyLimit: DOCUMENT_LIMIT,
    schema: operation({
      id: "create_monitor",
      tag: TAG,
      summary:
        "Create a monitor, try one first, check one now, replace a heartbeat's address, accept a picture, test its mails, or import many",
      description:
        "The first check of a new monitor is made at once. A try takes the body of a creation and refuses what that " +
        "refuses, but for the number of monitors, of which it warns. It waits for one check from each location, for 90 s " +
        "at most; what has not ended then is unknown. Nothing is stored, so that a repeated X-Idempotency-Key tries " +
        "again. With an id it takes the body of a change, which may be empty, and tries that monitor as it would be then: " +
        "with its stored request_headers and body where they are left out or masked (****), unless the url leads to " +
        "another origin, of which it warns. An import makes your account have what its document has, all or nothing, and names every problem: the monitors, the status pages and the maintenance windows that it has " +
        "are created or changed, and others stay as they are. A secret that a row leaves out is that of your monitor " +
        "with this name; without one the monitor is paused, with a warning.",
      status: 201,
      data: Type.Union([CREATED, importedSchema(parts)]),
      otherwise: [
        { status: 200, data: Type.Union([CREATED, importedSchema(parts), MAIL_TESTED, TRIED]) },
        { status: 202, data: RUN },
      ],
      query: POST_QUERY,
      body: Type.Union([CREATE, documentSchema(parts), CHANGE], {
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
      if (action === "try") return sendTrial(deps, request, reply, id);
      if (action === "test-mail") return sendTestMail(deps, request, reply, id);
      return writes.run(request, reply, await readPost({ monitors, bodies, parts }, request));
    },
  });
}

function registerChange(server: FastifyInstance, keyed: Keyed, { writes, monitors }: MonitorRoutesDeps): void {
  server.route({
    ...keyed,
    method: "PUT",
    url: MONITORS_URL,
    schema: operation({
      id: "update_monitor",
      tag: TAG,
      summary: "Change a monitor: any of its fields; or many in the same way",
      description:
        "With a new url, check_type or port its status is unknown until the next check, which is made at once. " +
        "is_active false pauses it. A url of another scheme, host or port removes request_headers and body, also " +
        "masked ones (****), unless their values come with it; meta.warnings names what was removed. A change of many is " +
        "all or nothing: a refusal names every problem in error.problems.",
      data: Type.Union([Type.Ref("Monitor#"), BULK_CHANGED]),
      query: PUT_QUERY,
      body: Type.Union([CHANGE, BULK_BODY], { examples: [{ interval_minutes: 5 }] }),
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "not_found"],
      isWrite: true,
    }),
    handler: async (request, reply) => {
      const { accountId } = callerOf(request);
      if (readQuery(PUT_QUERY, request).action === "bulk") {
        return writes.run(request, reply, readBulk(monitors, request));
      }
      const id = readId(request);
      const given = requireRead(parseChange(readBody(request), "current"));
      const statistics = await monitors.statisticsOf({ accountId, id });
      return writes.run(request, reply, async (tx) => {
        const changed = requireWritten(await monitors.change(tx, { accountId, id }, given, statistics));
        return {
          data: changed.monitor,
          changes: [changeOf(changed.monitor, "changed", changed.changed)],
          warnings: [...changed.removed.map(warnOfRemoval), ...warnOfSend(changed.monitor)],
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
    url: MONITORS_URL,
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
      return writes.run(request, reply, async (tx) => {
        const { name } = requireWritten(await monitors.remove(tx, { accountId, id }));
        return { data: { id, deleted: true }, changes: [changeOf({ id, name }, "deleted")] };
      });
    },
  });
}
