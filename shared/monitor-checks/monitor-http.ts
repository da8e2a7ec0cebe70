import { Type } from "typebox";
import { HTTP_STATUS_RANGE, MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Lines, Nullable, Url } from "#shared/tools/fields.ts";

/** Comparisons of a JSON condition. */
export const JSON_OPS = ["exists", "equals", "not_equals", "less", "greater"] as const;

const Json = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 1_000, description: "JSONPath (RFC 9535); its first node counts" }),
    op: Type.Enum([...JSON_OPS], { description: "exists: the path selects something; else how it compares to value" }),
    value: Type.Union([Type.String({ maxLength: 1_000 }), Type.Number(), Type.Boolean(), Type.Null()], {
      description: "Compared value; null for exists",
    }),
  },
  { description: "Condition on the JSON of the body, of which at most 1 MB is read" },
);

const CODE = Type.Integer(HTTP_STATUS_RANGE);

/** Checks a URL for monitors of type http and keyword. */
export const monitorHttp = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-http",
  title: "HTTP monitor",
  summary: "Whether a URL answers with the expected status, content and certificate",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  params: Type.Object({
    url: Url({ description: "URL to request" }),
    method: Type.Enum(["GET", "HEAD", "POST"], { description: "Request method" }),
    follow: Type.Boolean({ description: "Follow up to ten redirects; the final response counts" }),
    headers: Type.Array(Type.Tuple([Type.String({ maxLength: 256 }), Type.String({ maxLength: 8_192 })]), {
      maxItems: 50,
      description:
        "Request headers as pairs of name and value; all but Accept*, User-Agent and Content-Type, and the body, are " +
        "not sent to another origin",
    }),
    body: Nullable(Lines({ minLength: 0, maxLength: 65_536, description: "Body of a POST; null for none" })),
    expected: Type.Array(Type.Tuple([CODE, CODE]), {
      minItems: 1,
      maxItems: 50,
      description: "Expected statuses as ranges, both ends included",
    }),
    keyword: Nullable(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: "Text that the first 1 MB of the body must or must not contain; null for none",
      }),
    ),
    keyword_mode: Type.Enum(["present", "absent"], { description: "present: it must contain the keyword" }),
    json: Nullable(Json),
    ...REPORT_PARAMS,
  }),
});
