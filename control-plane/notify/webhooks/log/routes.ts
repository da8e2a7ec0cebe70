import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import type { DeliveryLog } from "#control-plane/notify/deliveries/log/log.ts";
import { requireFound } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { DELIVERY, DELIVERY_WITH_ATTEMPTS, READ } from "#control-plane/notify/webhooks/log/schemas.ts";
import { showAttempt, showDelivery } from "#control-plane/notify/webhooks/log/serialize.ts";

/** Registers GET /api/v4/events: the delivery log of webhooks. */
export function registerDeliveryLog(
  server: FastifyInstance,
  { gate, sql, log }: Pick<App, "sql"> & { readonly gate: Gate; readonly log: DeliveryLog },
): void {
  server.route({
    ...gate.keyed({ scope: "webhook" }),
    method: "GET",
    url: "/api/v4/events",
    schema: operation({
      id: "list_events",
      tag: "Webhooks",
      summary: "List the deliveries to your webhooks, newest first, or get one by id with its attempts",
      description: "Deliveries are kept 30 days, unless the operator has set another time, also after their webhook.",
      data: Type.Union([Type.Array(DELIVERY), DELIVERY_WITH_ATTEMPTS]),
      query: READ,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { accountId } = callerOf(request);
      const { id, webhook_id: receiverId, event_type: eventType, status, ...fields } = readQuery(READ, request);
      if (id !== undefined) {
        const found = requireFound(await log.find(sql, accountId, id), "delivery");
        return answer(request, { ...showDelivery(found.delivery), attempt_log: found.attempts.map(showAttempt) });
      }
      const page = pageOf(fields);
      const { deliveries, total } = await log.list(sql, accountId, { receiverId, eventType, status }, page);
      return answer(request, deliveries.map(showDelivery), { pagination: page.pagination(total) });
    },
  });
}
