import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { readBody } from "#control-plane/http/body.ts";
import { requireRead, refuseField } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, readId, readQuery, readWrite, IdField } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import { LONGEST_PARAMETER, type Warning } from "#control-plane/http/warnings.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { TestMails, TestMailReference } from "#control-plane/notify/mail/test-mails.ts";
import { BULK_BODY } from "#control-plane/monitors/bulk/fields.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { createImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { readPost } from "#control-plane/monitors/routes/post.ts";
import { POST_QUERY, PUT_QUERY } from "#control-plane/monitors/routes/queries.ts";
import { MONITORS_URL, registerReads, TAG, type ReadRoutesDeps } from "#control-plane/monitors/routes/read.ts";
import { CREATED, importedSchema, RUN } from "#control-plane/monitors/routes/schemas.ts";
import { sendTrial, TRIED } from "#control-plane/monitors/routes/try.ts";
import { warnOfSend } from "#control-plane/monitors/send-rule.ts";
import { CHANGE, CREATE } from "#control-plane/monitors/settings/fields.ts";
import { parseChange } from "#control-plane/monitors/settings/parse.ts";
import { documentSchema } from "#control-plane/monitors/transfer/document.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import type { Writes, Write } from "#control-plane/http/writes.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { MOST_VALUE, SECRET } from "#control-plane/http/access/diff-resource.ts";
import { parseBulk } from "#control-plane/monitors/bulk/parse.ts";

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

/** Answer of a test of the mails about a monitor. */
const MAIL_TESTED = Type.Object({
  results: Type.Array(
    Type.Object({
      email: Type.String({ description: "Address" }),
      status: Type.Enum(["sent", "failed", "not_confirmed", "unsubscribed"], {
        description:
          "sent: the mail server has taken it; failed: it has not, as message says; not_confirmed, unsubscribed: nothing " +
          "was sent",
      }),
      message: Type.String({ description: "The same for people, with the answer of the mail server" }),
    }),
    { description: "Every address of the monitor, in its order" },
  ),
});

/** Sends a test mail to every recipient of a monitor, waits for the results and answers them. */
function sendTestMail(
  {
    sql,
    writes,
    monitors,
    testMails,
  }: Pick<App, "sql"> & {
    readonly writes: Writes;
    readonly monitors: Pick<Monitors, "testMail">;
    readonly testMails: TestMails;
  },
  request: FastifyRequest,
  reply: FastifyReply,
  id: number | undefined,
): Promise<FastifyReply> {
  const { accountId } = callerOf(request);
  readWrite(Type.Object({}), request);
  if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
  let sent: readonly ClaimedDelivery[] = [];
  return writes.runEffect<TestMailReference>(request, reply, {
    mostMs: testMails.mostMs,
    async begin(tx) {
      const monitor = requireWritten(await monitors.testMail(tx, { accountId, id }));
      const { reference, claimed } = await testMails.begin(tx, { accountId, id, ...monitor });
      sent = claimed;
      return reference;
    },
    perform: () => testMails.send(sent),
    read: async (reference) => ({ data: { results: await testMails.read(sql, reference) } }),
  });
}

const Shown = (when: string) =>
  Type.Unknown({
    description: `Value ${when} the change; ${SECRET} in place of a secret, and the beginning of one longer than ${MOST_VALUE} characters`,
  });

/** Answer of a change of many. */
const BULK_CHANGED = Type.Object({
  dry_run: Type.Boolean({ description: "Whether nothing was changed, because the request asked what would be" }),
  changed: Type.Integer({ description: "Number of monitors that the request changes" }),
  unchanged: Type.Integer({ description: "Number of monitors that were as the request has them" }),
  monitors: Type.Array(
    Type.Object({
      id: IdField,
      name: Type.String({ description: "Name of the monitor" }),
      changed: Type.Array(
        Type.Object({
          field: Type.String({
            description: "Field, such as retries, heartbeat.grace_seconds or request_headers.X-Api-Key",
          }),
          before: Shown("before"),
          after: Shown("after"),
        }),
        { description: "What changes; empty: nothing. notify_emails null is the address of the account" },
      ),
    }),
    { description: "The monitors in the order of ids" },
  ),
});

/** Reads a change of many; returns the write that does it. Throws Refusal. */
function readBulk(monitors: Monitors, request: FastifyRequest): Write {
  const { accountId } = callerOf(request);
  const change = requireWritten(parseBulk(readBody(request)));
  return async (tx) => {
    const { monitors: rows, removed } = requireWritten(await monitors.changeMany(tx, accountId, change));
    const changed = rows.filter((row) => row.changed.length > 0);
    return {
      data: {
        dry_run: change.isDryRun,
        changed: changed.length,
        unchanged: rows.length - changed.length,
        monitors: rows,
      },
      changes: change.isDryRun ? [] : changed.map((row) => changeOf(row, "changed", row.changed)),
      warnings: Array.from(removed, ([field, count]) => warnOfRemovals(field, count)),
    };
  };
}

function warnOfRemovals(field: string, count: number): Warning {
  const parameter = field.slice(0, LONGEST_PARAMETER);
  const where = count === 1 ? "one monitor" : `${count} monitors`;
  const message = `"${parameter}" is removed from ${where}, which the change leads to another origin: send it with the change.`;
  return { parameter, message, did_you_mean: null };
}
