import { Type } from "typebox";
import { Flag } from "#shared/tools/fields.ts";
import type { FastifyInstance } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdField, IdQuery, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import {
  performAction,
  POST_QUERY,
  RECOVERED,
  REPLAYED,
  TESTED,
} from "#control-plane/notify/webhooks/action-routes.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import type { WebhookActions } from "#control-plane/notify/webhooks/actions.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { CHANGE, CREATE, READ_ONLY, SHOWN, TRIED } from "#control-plane/notify/webhooks/schemas.ts";
import { warningsOn } from "#control-plane/notify/webhooks/view.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";
import { warnOfRemoval } from "#control-plane/notify/webhooks/new-origin.ts";

const URL = "/api/v4/webhooks";
const TAG = "Webhooks";

/** Query of a change. */
const CHANGE_QUERY = Type.Object({
  id: IdField,
  dry_run: Type.Optional(
    Flag({ description: "1 checks the change, answers the fields that would get another value, and changes nothing" }),
  ),
});

/** Dependencies of the routes. */
interface WebhookRoutesDeps extends Pick<App, "sql"> {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly webhooks: Webhooks;
  readonly actions: WebhookActions;
}

/** Registers GET, POST, PUT and DELETE /api/v4/webhooks. */
export function registerWebhooks(server: FastifyInstance, deps: WebhookRoutesDeps): void {
  registerReading(server, deps);
  registerPost(server, deps);
  registerChange(server, deps);
  registerRemoval(server, deps);
}

function registerReading(server: FastifyInstance, { gate, sql, webhooks }: WebhookRoutesDeps): void {
  server.route({
    ...gate.keyed({ scope: "webhook" }),
    method: "GET",
    url: URL,
    schema: operation({
      id: "list_webhooks",
      tag: TAG,
      summary: "List your webhooks, oldest first",
      data: Type.Array(SHOWN),
    }),
    handler: async (request) => answer(request, await webhooks.list(sql, callerOf(request).accountId)),
  });
}

function registerPost(server: FastifyInstance, deps: WebhookRoutesDeps): void {
  const { gate, writes, webhooks } = deps;
  server.route({
    ...gate.keyed({ scope: "webhook" }),
    method: "POST",
    url: URL,
    schema: operation({
      id: "create_webhook",
      tag: TAG,
      summary: "Create a webhook, replace its secret, send it a test, or send deliveries again",
      description:
        "Events are sent with POST and signed. A receiver answers with 2xx within the time limit; otherwise the event is " +
        "sent again, up to 8 times in 28 hours. The answer of a creation without `secret`, and of a rotation, shows the " +
        "generated secret once, as `signing_secret`.",
      status: 201,
      otherwise: [{ status: 200, data: Type.Union([SHOWN, TESTED, REPLAYED, RECOVERED, TRIED]) }],
      data: SHOWN,
      query: POST_QUERY,
      body: CREATE,
      errors: [
        "missing_parameter",
        "invalid_url",
        "target_not_allowed",
        "plan_limit_exceeded",
        "plan_restricted",
        "not_found",
      ],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { action, dry_run: isDryRun = false } = readQuery(POST_QUERY, request);
      if (action !== undefined) return performAction(deps, request, reply, action);
      const { accountId } = callerOf(request);
      const given = readWrite(CREATE, request, READ_ONLY);
      return writes.run(request, reply, async (tx) => {
        if (isDryRun) return tried(await webhooks.attempt(tx, accountId, null, given));
        const data = requireWritten(await webhooks.create(tx, accountId, given));
        const { id, name } = data;
        const changes = [{ resource: "webhook", id, name, action: "created" }] as const;
        return { status: 201, data, changes, warnings: warningsOn(data) };
      });
    },
  });
}

function registerChange(server: FastifyInstance, { gate, writes, webhooks }: WebhookRoutesDeps): void {
  server.route({
    ...gate.keyed({ scope: "webhook" }),
    method: "PUT",
    url: URL,
    schema: operation({
      id: "update_webhook",
      tag: TAG,
      summary: "Change a webhook; fields that are absent keep their values",
      description:
        "A url of another scheme, host or port does not get the stored secrets: own headers, secret format_options and the " +
        "secret before the present one are left out, unless they come with the change. Warnings name them; one that the " +
        "format requires is missing_parameter.",
      data: Type.Union([SHOWN, TRIED]),
      query: CHANGE_QUERY,
      body: CHANGE,
      errors: [
        "missing_parameter",
        "invalid_url",
        "target_not_allowed",
        "plan_limit_exceeded",
        "plan_restricted",
        "not_found",
      ],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const { id, dry_run: isDryRun = false } = readQuery(CHANGE_QUERY, request);
      const given = readWrite(CHANGE, request, READ_ONLY);
      return writes.run(request, reply, async (tx) => {
        if (isDryRun) return tried(await webhooks.attempt(tx, accountId, id, given));
        const { webhook, changed, removed } = requireWritten(await webhooks.change(tx, accountId, id, given));
        const change = { resource: "webhook", id, name: webhook.name, action: "changed", changed } as const;
        return { data: webhook, changes: [change], warnings: [...warningsOn(webhook), ...removed.map(warnOfRemoval)] };
      });
    },
  });
}

/** Returns what a write that is only tried answers. Throws its refusal. */
function tried(attempt: Awaited<ReturnType<Webhooks["attempt"]>>) {
  const { changed, removed } = requireWritten(attempt);
  return { data: { changed }, changes: [], warnings: removed.map(warnOfRemoval) };
}

function registerRemoval(server: FastifyInstance, { gate, writes, webhooks }: WebhookRoutesDeps): void {
  server.route({
    ...gate.keyed({ scope: "webhook" }),
    method: "DELETE",
    url: URL,
    schema: operation({
      id: "delete_webhook",
      tag: TAG,
      summary: "Delete a webhook; what waits for it is not sent any more",
      description: "Its deliveries stay in the log.",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const id = readId(request);
      return writes.run(request, reply, async (tx) => {
        const name = await webhooks.remove(tx, accountId, id);
        if (name === null) throw new Refusal("not_found", absentMessage("webhook"));
        return { data: { id, deleted: true }, changes: [{ resource: "webhook", id, name, action: "deleted" }] };
      });
    },
  });
}
