import type { Scope, Toolset } from "#shared/tools/define.ts";
import type { Principal } from "#control-plane/access/principal.ts";
import type { RefusalDetails, ErrorCode } from "#control-plane/http/errors.ts";
import type { JsonSchema } from "#control-plane/surfaces/mcp/publish-schemas.ts";

/** What a tool answers with. Failures are results too: the one who asks is to read them and try otherwise. */
export type ToolAnswer =
  | { readonly ok: true; readonly data: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly code: ErrorCode; readonly details: RefusalDetails };

/** A tool of the agent endpoint: a check, or a question about what the platform keeps. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The scope its caller's key needs. */
  readonly scope: Scope;
  /** A client may ask for the tools of some sets alone. */
  readonly toolset: Toolset;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  /** It reaches hosts outside; else it reads the caller's own records alone. */
  readonly openWorld: boolean;
  /** Rejects only for what is ours: the database is away, or a bug. */
  call(principal: Principal, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}
