import { Type } from "typebox";
import { Flag } from "#shared/tools/fields.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { refuseField } from "#control-plane/http/errors.ts";
import { IdField, readQuery, readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import type { WebhookActions } from "#control-plane/notify/webhooks/actions.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { warningsOn } from "#control-plane/notify/webhooks/serialize.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";

const ACTIONS = ["rotate", "test", "replay", "recover"] as const;
type Action = (typeof ACTIONS)[number];

/** Query of POST. */
export const POST_QUERY = Type.Object({
  action: Type.Optional(
    Type.Enum(ACTIONS, {
      description:
        "rotate: replace the secret of the webhook `id` by a generated one. test: send a test event to it, and wait for " +
        "the answer. replay: send the delivery `delivery_id` again. recover: send again what the webhook `id` has not " +
        "got since `since`. Default: create a webhook",
    }),
  ),
  id: Type.Optional(IdField),
  delivery_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "replay: id of a delivery that has ended",
    }),
  ),
  since: Type.Optional(
    Type.String({ format: "date-time", description: "recover: earliest creation. Default: 24 hours ago" }),
  ),
  dry_run: Type.Optional(
    Flag({ description: "creation: 1 checks it, answers the fields that it would set, and changes nothing" }),
  ),
});

/** Answer of a test. */
export const TESTED = Type.Object({
  delivery_id: Type.Integer({ description: "Id of the delivery in the log" }),
  status: Type.Enum(["delivered", "failed", "pending"], {
    description: "pending: the process that sent it stopped, and its result is not known yet",
  }),
  http_status_code: Type.Union([Type.Integer(), Type.Null()], { description: "Status of the answer; null: none" }),
  duration_ms: Type.Union([Type.Integer(), Type.Null()], { description: "Duration of the attempt, milliseconds" }),
  error_code: Type.Union([Type.String(), Type.Null()], { description: "Why it failed, as a word for programs" }),
  error_message: Type.Union([Type.String(), Type.Null()], { description: "The same for people" }),
});

/** Answer of a replay. */
export const REPLAYED = Type.Object({ delivery_id: Type.Integer({ description: "Id of the new delivery" }) });

/** Answer of a recovery. */
export const RECOVERED = Type.Object({ count: Type.Integer({ description: "Number of events that are sent again" }) });

/** Performs the action of a POST. */
export function performAction(
  {
    writes,
    webhooks,
    actions,
  }: { readonly writes: Writes; readonly webhooks: Webhooks; readonly actions: WebhookActions },
  request: FastifyRequest,
  reply: FastifyReply,
  action: Action,
): Promise<FastifyReply> {
  const { accountId } = callerOf(request);
  const query = readQuery(POST_QUERY, request);
  if (query.dry_run === true) {
    throw refuseField({ field: "dry_run", reason: "unknown", message: "is only for the creation of a webhook" });
  }
  readWrite(Type.Object({}), request);
  switch (action) {
    case "test":
      return sendTest({ writes, actions }, request, reply, require(query.id, "id"));
    case "rotate": {
      const id = require(query.id, "id");
      return writes.run(request, reply, async (tx) => {
        const { webhook, changed } = requireWritten(await webhooks.rotate(tx, accountId, id));
        const change = { resource: "webhook", id, name: webhook.name, action: "rotated", changed } as const;
        return { data: webhook, changes: [change], warnings: warningsOn(webhook) };
      });
    }
    case "replay": {
      const deliveryId = require(query.delivery_id, "delivery_id");
      return writes.run(request, reply, async (tx) => {
        return { data: { delivery_id: requireWritten(await actions.replay(tx, accountId, deliveryId)) }, changes: [] };
      });
    }
    case "recover": {
      const id = require(query.id, "id");
      const since = query.since === undefined ? null : readTime(query.since);
      return writes.run(request, reply, async (tx) => {
        return { data: { count: requireWritten(await actions.recover(tx, accountId, id, since)) }, changes: [] };
      });
    }
  }
}

function sendTest(
  { writes, actions }: { readonly writes: Writes; readonly actions: WebhookActions },
  request: FastifyRequest,
  reply: FastifyReply,
  id: number,
): Promise<FastifyReply> {
  const { accountId } = callerOf(request);
  let claimed: ClaimedDelivery | null = null;
  return writes.runEffect<{ readonly deliveryId: number }>(request, reply, {
    mostMs: actions.testMs,
    async begin(tx) {
      claimed = requireWritten(await actions.beginTest(tx, accountId, id));
      return { deliveryId: claimed.id };
    },
    async perform() {
      if (claimed !== null) await actions.sendTest(claimed);
    },
    async read({ deliveryId }) {
      const found = await actions.findDelivery(accountId, deliveryId);
      return {
        data: {
          delivery_id: deliveryId,
          status: found?.status ?? "failed",
          http_status_code: found?.responseCode ?? null,
          duration_ms: found?.durationMs ?? null,
          error_code: found?.errorCode ?? null,
          error_message: found?.errorMessage ?? null,
        },
      };
    },
  });
}

function require(value: number | undefined, field: string): number {
  if (value === undefined) throw refuseField({ field, reason: "required", message: "is required" });
  return value;
}

function readTime(text: string): Date {
  const at = Date.parse(text);
  if (Number.isNaN(at)) {
    const message = "must be a time such as 2026-01-31T12:00:00Z";
    throw refuseField({ field: "since", reason: "type", message });
  }
  return new Date(at);
}
