import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Domain } from "#shared/tools/fields.ts";
import { MtaStsRecord, ROUTING_FIELDS, TlsRpt } from "#shared/tools/mail-fields.ts";
import { findings, OBSERVED_FIELDS, text } from "#shared/tools/shapes.ts";

const Result = Type.Object({
  domain: text("Requested domain in A-labels"),
  ...ROUTING_FIELDS,
  mta_sts: MtaStsRecord,
  tls_rpt: TlsRpt,
  findings: findings(),
  ...OBSERVED_FIELDS,
});

/** Contract of mx, which finds the mail hosts of a domain. */
export const mx = defineTool({
  name: "mx",
  title: "Mail exchangers",
  summary: "Mail hosts of a domain with their addresses, reverse names, networks, DANE and faults",
  scope: "dns",
  toolset: "mail",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com" },
  params: Type.Object({ domain: Domain({ description: "Mail domain, the part after the @" }) }),
  result: Result,
  deadlineMs: () => 10_000,
  open: { q: "domain" },
  observes: ({ records }: Static<typeof Result>) =>
    records.flatMap(({ host, addresses }) => addresses.map(({ ip }) => ({ host, ip }))),
  across: {
    agreeOn: ({ status, records }: Static<typeof Result>) => [
      status,
      records.map(({ priority, host, addresses }) => [priority, host, addresses.map(({ ip }) => ip).toSorted()]),
    ],
    measure: () => ({}),
  },
});
