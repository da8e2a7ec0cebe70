import { Type } from "typebox";
import { MONITOR_CHECK, REPORT_PARAMS } from "#shared/monitor-checks/define.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Domain } from "#shared/tools/fields.ts";

/** Record types that a monitor can look up. */
export const DNS_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", "SRV", "CAA", "PTR", "DS", "TLSA"] as const;
/** Comparisons of the records that were found with those that are expected. */
export const DNS_OPS = ["any", "equals", "contains", "not_contains"] as const;
/** What DNSSEC must say about the answer. */
export const DNSSEC_RULES = ["ignore", "not_bogus", "secure"] as const;

/** Looks up one record type for monitors of type dns. */
export const monitorDns = defineTool({
  ...MONITOR_CHECK,
  name: "monitor-dns",
  title: "DNS monitor",
  summary: "Whether a name has the expected records",
  toolset: "dns",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com" },
  params: Type.Object({
    domain: Domain({ description: "Name to look up" }),
    type: Type.Enum([...DNS_TYPES], { description: "Record type" }),
    op: Type.Enum([...DNS_OPS], {
      description:
        "any: at least one record; equals: the records are exactly values; contains: each of values is among them; " +
        "not_contains: none is. A value is among the TXT records if it is part of one",
    }),
    values: Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
      maxItems: 50,
      description: "Record data in zone-file form; the text itself for TXT. [] for any",
    }),
    dnssec: Type.Enum([...DNSSEC_RULES], {
      description: "not_bogus: the answer must not fail validation; secure: it must be validated",
    }),
    ...REPORT_PARAMS,
  }),
});
