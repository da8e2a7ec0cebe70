import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import {
  registerChange,
  registerCreation,
  registerRemoval,
  type WriteRoutes,
} from "#control-plane/http/resource-routes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import {
  performAction,
  POST_QUERY,
  RECOVERED,
  REPLAYED,
  TESTED,
} from "#control-plane/notify/webhooks/action-routes.ts";
import type { WebhookActions } from "#control-plane/notify/webhooks/actions.ts";
import { warnOfRemoval } from "#control-plane/notify/webhooks/new-origin.ts";
import { webhook } from "#control-plane/notify/webhooks/resource.ts";
import { warningsOn } from "#control-plane/notify/webhooks/serialize.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";

/** Dependencies of the routes. */
interface WebhookRoutesDeps extends Pick<App, "sql">, WriteRoutes {
  readonly webhooks: Webhooks;
  readonly actions: WebhookActions;
}

const WRITE_ERRORS = [
  "missing_parameter",
  "invalid_url",
  "target_not_allowed",
  "plan_limit_exceeded",
  "plan_restricted",
  "not_found",
] as const;

/** Registers GET, POST, PUT and DELETE /api/v4/webhooks. */
export function registerWebhooks(server: FastifyInstance, deps: WebhookRoutesDeps): void {
  const { gate, sql, webhooks } = deps;
  server.route({
    ...gate.keyed({ scope: webhook.scope }),
    method: "GET",
    url: webhook.path,
    schema: operation({
      id: "list_webhooks",
      tag: webhook.tag,
      summary: "List your webhooks, oldest first",
      data: Type.Array(webhook.answer),
    }),
    handler: async (request) => answer(request, await webhooks.list(sql, callerOf(request).accountId)),
  });
  registerCreation(server, deps, webhook, {
    summary: "Create a webhook, replace its secret, send it a test, or send deliveries again",
    description:
      "Events are sent with POST and signed. A receiver answers with 2xx within the time limit; otherwise the event is " +
      "sent again, up to 8 times in 28 hours. The answer of a creation without `secret`, and of a rotation, shows the " +
      "generated secret once, as `signing_secret`.",
    errors: WRITE_ERRORS,
    actions: {
      query: POST_QUERY,
      answers: [TESTED, REPLAYED, RECOVERED],
      perform(request, reply) {
        const { action } = readQuery(POST_QUERY, request);
        return action === undefined ? null : performAction(deps, request, reply, action);
      },
    },
    attempt: async (tx, accountId, given) => tried(await webhooks.attempt(tx, accountId, null, given)),
    async write(tx, accountId, given) {
      const data = requireWritten(await webhooks.create(tx, accountId, given));
      const { id, name } = data;
      const changes = [{ resource: "webhook", id, name, action: "created" }] as const;
      return { status: 201, data, changes, warnings: warningsOn(data) };
    },
  });
  registerChange(server, deps, webhook, {
    summary: "Change a webhook; fields that are absent keep their values",
    description:
      "A url of another scheme, host or port does not get the stored secrets: own headers, secret format_options and the " +
      "secret before the present one are left out, unless they come with the change. Warnings name them; one that the " +
      "format requires is missing_parameter.",
    errors: WRITE_ERRORS,
    attempt: async (tx, { accountId, id }, given) => tried(await webhooks.attempt(tx, accountId, id, given)),
    async write(tx, { accountId, id }, given) {
      const { webhook: data, changed, removed } = requireWritten(await webhooks.change(tx, accountId, id, given));
      const change = { resource: "webhook", id, name: data.name, action: "changed", changed } as const;
      return { data, changes: [change], warnings: [...warningsOn(data), ...removed.map(warnOfRemoval)] };
    },
  });
  registerRemoval(server, deps, webhook, {
    summary: "Delete a webhook; what waits for it is not sent any more",
    description: "Its deliveries stay in the log.",
    async remove(tx, { accountId, id }) {
      const name = await webhooks.remove(tx, accountId, id);
      if (name === null) throw new Refusal("not_found", absentMessage(webhook.noun));
      return name;
    },
  });
}

/** Returns what a write that is only tried answers. Throws its refusal. */
function tried(attempt: Awaited<ReturnType<Webhooks["attempt"]>>) {
  const { changed, removed } = requireWritten(attempt);
  return { data: { changed }, changes: [], warnings: removed.map(warnOfRemoval) };
}
