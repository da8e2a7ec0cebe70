import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host } from "#shared/tools/fields.ts";

/** Connects to a TCP port for monitors of type port. */
export const monitorPort = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-port",
  title: "Port monitor",
  summary: "Whether a TCP port accepts connections",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com", port: 443 },
  params: Type.Object({
    host: Host({ description: "Host or IP address" }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port" }),
    ...REPORT_PARAMS,
  }),
});
