import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Host } from "#shared/tools/fields.ts";

/**
 * Makes one handshake for monitors of type ssl, and for the daily look at the certificate of a host. The whole result
 * has the fields certificate, chain, trusted, trust_error and protocol of the ssl tool, the newest version that the server
 * speaks, without its survey of versions and suites, which takes dozens of connections.
 */
export const monitorSsl = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-ssl",
  title: "SSL monitor",
  summary: "Whether a TLS server completes a handshake with a trusted certificate",
  toolset: "tls",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com", port: 443 },
  params: Type.Object({
    host: Host({ description: "Host name or IP address of the server" }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "TCP port; TLS from the first octet" }),
    ...REPORT_PARAMS,
  }),
});
