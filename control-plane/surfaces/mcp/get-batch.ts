import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import type { Batches } from "#control-plane/checks/batches/batches.ts";
import { POLL, PROGRESS } from "#control-plane/checks/batches/schemas.ts";
import { showProgress } from "#control-plane/checks/batches/serialize.ts";
import { pageOf } from "#control-plane/http/params.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { refuseTool } from "#control-plane/checks/tool-requests/tool-scope.ts";

/** Creates the tool that returns a batch of the caller, without `poll_url`: MCP clients call the tool again instead. */
export function getBatchTool(batches: Batches): McpTool {
  return {
    name: "get_batch",
    title: "Batch",
    description: "Returns the status and the results of a batch of checks of your account.",
    scope: "check",
    toolset: "platform",
    inputSchema: publishArguments(POLL),
    outputSchema: publishResult(Type.Omit(PROGRESS, ["poll_url"])),
    openWorld: false,
    async call(principal, args) {
      const parsed = parseParams(POLL, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      const { job_id: id, page = 1, per_page = 100 } = parsed.value;
      const found = await batches.find(principal.accountId, id, pageOf({ page, per_page }));
      if (found === null) {
        return {
          ok: false,
          code: "not_found",
          details: { message: "No batch has this id, or it has expired." },
        };
      }
      const refused = refuseTool(principal, batches.contract(found.batch.tool));
      if (refused !== null) return { ok: false, code: refused.code, details: refused.details };
      const { poll_url: _path, ...progress } = showProgress(found.batch, found.targets);
      return { ok: true, data: progress };
    },
  };
}
