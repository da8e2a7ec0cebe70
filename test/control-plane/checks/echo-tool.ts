import { Type } from "typebox";
import { defineTool, withDefault, type Contract } from "#shared/tools/define.ts";
import { Flag, Url } from "#shared/tools/fields.ts";

/** A small contract for tests of checks. Scripted agents answer its jobs. */
export const echoTool = defineTool({
  name: "echo",
  title: "Echo",
  summary: "Returns its parameters",
  scope: "check",
  toolset: "web",
  params: Type.Object({
    url: Url({ description: "URL to echo" }),
    loud: withDefault(Flag({ description: "Louder" }), false),
  }),
  result: Type.Object({
    url: Type.String({ description: "As asked" }),
    rtt_ms: Type.Number({ description: "Round trip, milliseconds" }),
  }),
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 5_000,
  cacheMs: 60_000,
  across: { agreeOn: (data) => data.url, measure: (data) => ({ rtt_ms: data.rtt_ms }) },
}) as unknown as Contract;
