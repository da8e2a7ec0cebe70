import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import { absentMessage } from "#control-plane/http/errors.ts";
import { IdQuery } from "#control-plane/http/params.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { MONITOR, MONITOR_WITH_CHECKS } from "#control-plane/monitors/routes/schemas.ts";
import { RECORD } from "#control-plane/monitors/settings/fields.ts";
import { pick, summarise, SUMMARY } from "#control-plane/surfaces/mcp/monitor-summary.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";

/** Names of the writable fields, as far as they are not in the summary. */
const SETTINGS = Object.keys(RECORD.properties).filter((name) => !Object.hasOwn(SUMMARY.properties, name));

/** The settings are one object, because a model reads every top-level field of the schema. */
const RESULT = Type.Object({
  ...SUMMARY.properties,
  next_check_at: MONITOR.properties.next_check_at,
  schedule_lag_ms: MONITOR.properties.schedule_lag_ms,
  settings: Type.Pick(MONITOR, SETTINGS),
  checks: MONITOR_WITH_CHECKS.properties.checks,
});

/** Creates the tool that returns one monitor of the caller with its newest checks. */
export function getMonitorTool(monitors: Monitors): McpTool {
  return {
    name: "get_monitor",
    title: "Monitor",
    description:
      "Returns one monitor of your account: its settings, status, the cause of its newest failure, uptime, response " +
      "times and its 20 newest checks by location.",
    scope: "monitors:read",
    toolset: "platform",
    inputSchema: publishArguments(IdQuery),
    outputSchema: publishResult(RESULT),
    openWorld: false,
    async call({ accountId }, args) {
      const parsed = parseParams(IdQuery, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      const { id } = parsed.value;
      const found = await monitors.find(accountId, id);
      if (found === null) return { ok: false, code: "not_found", details: { message: absentMessage("monitor") } };
      const { monitor, checks } = found;
      const { next_check_at, schedule_lag_ms } = monitor;
      const settings = pick(monitor, SETTINGS);
      return { ok: true, data: { ...summarise(monitor), next_check_at, schedule_lag_ms, settings, checks } };
    },
  };
}
