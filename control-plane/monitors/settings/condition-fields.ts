import { Type } from "typebox";
import { HTTP_STATUS_RANGE } from "#shared/monitor-checks/define.ts";
import { JSON_OPS } from "#shared/monitor-checks/monitor-http.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { JsonCondition } from "#control-plane/outages/kinds/common.ts";

/** The one expected status. */
export const EXPECTED_CODE = Type.Integer({
  ...HTTP_STATUS_RANGE,
  examples: [200],
  description: "http, keyword: expected HTTP status. Default: 200",
});

/** A condition on a JSON body. */
export const JSON_CONDITION = Nullable(
  Type.Object(
    {
      path: Type.String({ minLength: 1, maxLength: 1_000, description: "JSONPath (RFC 9535) of the value to compare" }),
      op: Type.Enum([...JSON_OPS], {
        description: "Comparison with the first value that the path selects",
      }),
      value: Type.Optional(
        Type.Unsafe<JsonCondition["value"]>({
          anyOf: [{ type: "string", maxLength: 1_000 }, { type: "number" }, { type: "boolean" }, { type: "null" }],
          description: "Value to compare with; less and greater need a number, exists needs none",
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ path: "$.status", op: "equals", value: "ok" }],
      description: "http, keyword: a further condition on the JSON of the response. Default: null",
    },
  ),
);
