import type { KeyScope, Toolset } from "#shared/tools/define.ts";
import type { Principal } from "#control-plane/http/access/principal.ts";
import type { RefusalDetails, ErrorCode } from "#control-plane/http/errors.ts";
import type { JsonSchema } from "#control-plane/surfaces/mcp/publish-schemas.ts";

/** Answer of a tool. Failures are results too: the model reads them and can try again differently. */
export type ToolAnswer =
  /** `text`: the answer for people and models; absent: the data as JSON. */
  | { readonly ok: true; readonly data: Readonly<Record<string, unknown>>; readonly text?: string }
  | { readonly ok: false; readonly code: ErrorCode; readonly details: RefusalDetails };

/** An MCP tool: a check, or a query of stored data. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** KeyScope that the caller's key needs. */
  readonly scope: KeyScope;
  /** Toolset of the tool; a client can select some sets. */
  readonly toolset: Toolset;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  /** true: it connects to external hosts; false: it only reads the caller's own records. */
  readonly openWorld: boolean;
  /** Rejects only for internal errors: the database is not available, or a bug. */
  call(principal: Principal, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolAnswer>;
}
