import type { Finding } from "#shared/contracts/findings.ts";
import { table } from "#shared/presentation/build.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { yesNo } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx/contract.ts";

/** How mail reaches a domain, as mx and email-check report it. */
type Routing = Pick<ResultOf<typeof mx>, "status" | "records" | "null_mx" | "implicit_mx" | "provider" | "ipv6">;
type MailHost = Routing["records"][number];

/** Maximum number of addresses of reports that are named. */
const MOST_TARGETS = 3;

/** Faults that keep mail from a host, by the id of their finding, as the end of a sentence about the host. */
const HOST_FAULTS: ReadonlyMap<string, string> = new Map([
  ["host-missing", "does not exist in the DNS"],
  ["host-without-address", "has no address"],
  ["host-not-public", "has no public address"],
  ["mx-is-address", "is an address where a name must be"],
]);

const DANE = {
  secure: ["valid", null],
  insecure: ["not signed", "warning"],
  bogus: ["validation fails", "bad"],
  absent: ["none", null],
  unknown: ["not known", null],
} as const satisfies Readonly<Record<MailHost["dane"]["status"], readonly [string, Verdict | null]>>;

/** Says why no mail arrives at a domain: "mail.example.com has no address". Null if mail can arrive, or if unknown. */
export function whyNoMail(findings: readonly Finding[]): string | null {
  for (const { id, severity, where } of findings) {
    if (severity !== "critical") continue;
    if (id === "domain-missing") return "the domain does not exist";
    if (id === "no-mail-route") return "it has neither mail hosts nor an address";
    const fault = HOST_FAULTS.get(id);
    if (fault !== undefined) return `${where ?? "its mail host"} ${fault}`;
  }
  return null;
}

/** Names the hosts that take mail for a domain, in the order in which senders try them. "." of a null MX is left out. */
export function mailHostNames({ records }: Pick<Routing, "records">): readonly string[] {
  return Array.from(new Set(records.map(({ host }) => host).filter((host) => host !== ".")));
}

/** Lists the mail hosts with a row for each address; null if there are none. */
export function mailHostTable({ records }: Pick<Routing, "records">): Table | null {
  return table(
    "Mail hosts",
    ["#Priority", "Host", "Address", "Reverse name", "Confirmed", "Network", "DANE", "Note"],
    records.filter(({ host }) => host !== ".").flatMap(rowsOf),
  );
}

function rowsOf({ priority, host, addresses, is_cname: isAlias, dane }: MailHost) {
  const [text, tone] = DANE[dane.status];
  const note = isAlias === true ? "is an alias" : null;
  if (addresses.length === 0)
    return [{ cells: [priority, host, "no address", null, null, null, text, note], tone: "bad" as const }];
  return addresses.map(({ ip, ptr, has_ptr: hasName, fcrdns, asn }) => {
    const isFaulty = hasName === false || fcrdns === false || isAlias === true;
    const name = ptr ?? (hasName === false ? "none" : null);
    const network = asn === null ? null : `AS${asn}`;
    return {
      cells: [priority, host, ip, name, yesNo(fcrdns), network, text, note],
      tone: tone ?? (isFaulty ? ("warning" as const) : null),
    };
  });
}

/** Says on how many of the mail hosts DANE protects mail: "all", "1 of 2 mail hosts"; null without mail hosts. */
export function describeDane({ records }: Pick<Routing, "records">): string | null {
  const hosts = records.filter(({ host }) => host !== ".");
  const secure = hosts.filter(({ dane }) => dane.status === "secure").length;
  if (hosts.length === 0) return null;
  if (secure > 0) return secure === hosts.length ? "on every mail host" : `on ${secure} of ${hosts.length} mail hosts`;
  return hosts.some(({ dane }) => dane.status === "unknown") ? "not known" : "none";
}

/** Lists the addresses that receive reports, mail addresses without mailto:. "nobody" if there are none. */
export function describeTargets(uris: readonly string[]): string {
  return (
    listFirst(
      uris.map((uri) => uri.replace(/^mailto:/i, "")),
      MOST_TARGETS,
    ) || "nobody"
  );
}
