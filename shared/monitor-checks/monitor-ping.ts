import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host } from "#shared/tools/fields.ts";

/** Pings a host for monitors of type ping. */
export const monitorPing = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-ping",
  title: "Ping monitor",
  summary: "Whether a host answers at least one of three echo requests",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com" },
  params: Type.Object({ host: Host({ description: "Host or IP address" }), ...REPORT_PARAMS }),
});
