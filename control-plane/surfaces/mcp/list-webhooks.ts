import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";
import { webhook } from "#control-plane/notify/webhooks/resource.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";

const ARGUMENTS = Type.Object({});
const RESULT = Type.Object({ webhooks: Type.Array(webhook.answer, { description: "Oldest first" }) });

/** Creates the tool that lists the caller's webhooks. */
export function listWebhooksTool(sql: Sql, webhooks: Webhooks): McpTool {
  return {
    name: "list_webhooks",
    title: "Webhooks",
    description: "Lists the webhooks of your account: where events are sent, which ones, and whether they are active.",
    scope: "webhook",
    toolset: "platform",
    inputSchema: publishArguments(ARGUMENTS),
    outputSchema: publishResult(RESULT),
    openWorld: false,
    async call({ accountId }, args) {
      const parsed = parseParams(ARGUMENTS, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      return { ok: true, data: { webhooks: await webhooks.list(sql, accountId) } };
    },
  };
}
