import { Type } from "typebox";
import { DNS_OPS, DNS_TYPES, DNSSEC_RULES } from "#shared/monitor-checks/monitor-dns.ts";
import { JSON_OPS } from "#shared/monitor-checks/monitor-http.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { JsonCondition } from "#control-plane/kinds/monitor.ts";

/** The one expected status. */
export const EXPECTED_CODE = Type.Integer({
  minimum: 100,
  maximum: 599,
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

/** A condition on the answer of a look-up; omitted parts have their defaults. */
export const DNS = Nullable(
  Type.Object(
    {
      type: Type.Optional(Type.Enum([...DNS_TYPES], { description: "Record type. Default: A" })),
      op: Type.Optional(
        Type.Enum([...DNS_OPS], {
          description:
            "any: there is a record; equals: the records are exactly the values; contains: every value is among " +
            "them; not_contains: none is. For TXT, a value is among them if it is part of a record. Default: any",
        }),
      ),
      values: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
          maxItems: 50,
          description:
            "Record data of the type as in zone files, such as 10 mail.example.com for MX; for TXT any text. Names " +
            "are compared without case and final dot, addresses in any spelling",
        }),
      ),
      dnssec: Type.Optional(
        Type.Enum([...DNSSEC_RULES], {
          description: "Condition on the DNSSEC validation. Default: not_bogus",
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ type: "A", op: "equals", values: ["192.0.2.1"], dnssec: "not_bogus" }],
      description: "dns: what the answer must be. Default for this check type: at least one A record",
    },
  ),
);
