import { Type } from "typebox";
import { DNS_OPS, DNS_TYPES, DNSSEC_RULES, monitorDns } from "#shared/monitor-checks/monitor-dns.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { readDnsValues, type DnsCondition } from "#control-plane/outages/kinds/dns-values.ts";
import { DOMAIN_TARGET, OPTIONS, PROBE, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";

/** A condition on the answer of a look-up; omitted parts have their defaults. */
const SCHEMA = Nullable(
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

const DEFAULTS: DnsCondition = { type: "A", op: "any", values: [], dnssec: "not_bogus" };

/** The records of a name. */
export const dns = {
  ...PROBED,
  watches: "records of a name",
  target: DOMAIN_TARGET,
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    defaults: () => DEFAULTS,
    // A condition replaces the present one. Without one a look-up has nothing to compare: null restores the default.
    read: (given, _present, defaults) => readDnsValues({ ...defaults, ...(given as Partial<DnsCondition> | null) }),
  },
  findConflict: (_draft, condition) => (condition === null ? null : valuesConflict(condition)),
  evidence: { ...PROBED.evidence, isTraced: false },
  probe: {
    ...PROBE,
    contract: monitorDns,
    params: (url, _settings, condition) => ({ domain: url, ...(condition ?? DEFAULTS) }),
  },
} as const satisfies Kind<DnsCondition>;

function valuesConflict({ op, values }: DnsCondition): FieldProblem | null {
  if (op === "any" && values.length > 0) return problem("dns.values", "type", "must be left out if op is any");
  if (op !== "any" && values.length === 0) {
    return problem("dns.values", "required", `must have at least one value if op is ${op}`);
  }
  return null;
}
