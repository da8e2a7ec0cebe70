import { Type } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import { PUBLIC_PAGE, publicJson } from "#control-plane/public/status-pages/public-json.ts";
import { NO_SLUG } from "#control-plane/public/status-pages/routes/read.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { McpTool } from "#control-plane/surfaces/mcp/mcp-tool.ts";
import { publishArguments, publishResult } from "#control-plane/surfaces/mcp/publish-schemas.ts";
import { refuseArgument } from "#control-plane/surfaces/mcp/refuse-argument.ts";

const ARGUMENTS = Type.Object({
  slug: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: ["example-shop"],
    description: "Last part of the page's address",
  }),
});

/** Creates the tool that returns a public status page, or one of the caller that is not public. */
export function getStatusPageTool(pages: StatusPages): McpTool {
  return {
    name: "get_status_page",
    title: "Status page",
    description:
      "Returns a status page by its slug, as its visitors see it: the overall status, its monitors, recent incidents " +
      "with their updates, and maintenance. Pages of your account need not be public.",
    scope: "monitors:read",
    toolset: "platform",
    inputSchema: publishArguments(ARGUMENTS),
    outputSchema: publishResult(PUBLIC_PAGE),
    openWorld: false,
    async call({ accountId }, args) {
      const parsed = parseParams(ARGUMENTS, args, { from: "strict", unknown: "refuse" });
      if (!parsed.ok) return refuseArgument(parsed.problem);
      const view = await pages.view(parsed.value.slug, accountId);
      if (view === null) return { ok: false, code: "not_found", details: { message: NO_SLUG } };
      return { ok: true, data: publicJson(view).data };
    },
  };
}
