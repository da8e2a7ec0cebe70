import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { DeliveryLog } from "#control-plane/notify/deliveries/log/log.ts";
import { META } from "#control-plane/http/operations/operation.ts";
import { PageFields, pageOf } from "#control-plane/http/params.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";
import { DELIVERY, FILTERS } from "#control-plane/notify/webhooks/log/schemas.ts";
import { showDelivery } from "#control-plane/notify/webhooks/log/serialize.ts";

const ARGUMENTS = Type.Object({ ...FILTERS.properties, ...PageFields });
const RESULT = Type.Object({
  events: Type.Array(DELIVERY, { description: "Newest first" }),
  pagination: META.properties.pagination,
});

/** Creates the tool that lists the deliveries to the caller's webhooks. */
export function listEventsTool(sql: Sql, log: DeliveryLog): McpTool {
  return {
    name: "list_events",
    title: "Webhook deliveries",
    description: "Lists the deliveries of events to your webhooks, newest first: what arrived, what failed and why.",
    scope: "webhook",
    toolset: "platform",
    inputSchema: publishArguments(ARGUMENTS),
    outputSchema: publishResult(RESULT),
    openWorld: false,
    async call({ accountId }, args) {
      const parsed = parseParams(ARGUMENTS, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      const { webhook_id: receiverId, event_type: eventType, status, page = 1, per_page } = parsed.value;
      const paged = pageOf({ page, ...(per_page === undefined ? {} : { per_page }) });
      const { deliveries, total } = await log.list(sql, accountId, { receiverId, eventType, status }, paged);
      return { ok: true, data: { events: deliveries.map(showDelivery), pagination: paged.pagination(total) } };
    },
  };
}
