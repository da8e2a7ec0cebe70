import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import { PageFields, pageOf } from "#control-plane/http/params.ts";
import { META } from "#control-plane/http/operations/operation.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { FILTERS } from "#control-plane/monitors/routes/queries.ts";
import { summarise, SUMMARY } from "#control-plane/surfaces/mcp/monitor-summary.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";

const ARGUMENTS = Type.Object({ ...FILTERS.properties, ...PageFields });

const RESULT = Type.Object({
  monitors: Type.Array(SUMMARY, { description: "Newest first" }),
  pagination: META.properties.pagination,
});

/** Creates the tool that lists the caller's monitors with their status. */
export function listMonitorsTool(monitors: Monitors): McpTool {
  return {
    name: "list_monitors",
    title: "Monitors",
    description:
      "Lists the monitors of your account with their status, newest first: what is down, degraded or unknown, since " +
      "when and why, with uptime and response times.",
    scope: "monitors:read",
    toolset: "platform",
    inputSchema: publishArguments(ARGUMENTS),
    outputSchema: publishResult(RESULT),
    openWorld: false,
    async call({ accountId }, args) {
      const parsed = parseParams(ARGUMENTS, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      const { status, tag, check_type: checkType, q: text, page = 1, per_page = 25 } = parsed.value;
      const paged = pageOf({ page, per_page });
      const { rows, total } = await monitors.list(accountId, { status, tag, checkType, text }, paged);
      return { ok: true, data: { monitors: rows.map(summarise), pagination: paged.pagination(total) } };
    },
  };
}
