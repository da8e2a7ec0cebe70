import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Domain } from "#shared/tools/fields.ts";

/**
 * Asks the registry about a domain. The control plane runs it about once a day for all monitors of a domain, and judges
 * their planned checks by the result. The whole result is that of the whois tool.
 */
export const monitorDomain = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-domain",
  title: "Domain monitor",
  summary: "Whether a domain is registered, not expired and not on hold",
  toolset: "registry",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com" },
  params: Type.Object({ domain: Domain({ description: "Registered domain" }), ...REPORT_PARAMS }),
});
