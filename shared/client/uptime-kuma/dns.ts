import { isIPv4, isIPv6 } from "node:net";
import type { Context, Fields, Mapped } from "#shared/client/uptime-kuma/context.ts";
import { listOf, numberOf, shown, textOf, type Source } from "#shared/client/uptime-kuma/source.ts";
import { vetHost } from "#shared/client/uptime-kuma/targets.ts";
import { isUsableName } from "#shared/egress/names.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { DNS_TYPES } from "#shared/monitor-checks/monitor-dns.ts";

/** The resolver and port that Uptime Kuma asks by default (src/pages/EditMonitor.vue). */
const USUAL_RESOLVER = "1.1.1.1";
const USUAL_PORT = 53;

/** Maps a look-up (louislam/uptime-kuma, server/monitor-types/dns.js): it is up if there is a record of the type. */
export function mapDns(monitor: Source, context: Context): Mapped {
  const type = textOf(monitor, "dns_resolve_type") || "A";
  if (!(DNS_TYPES as readonly string[]).includes(type))
    return { ok: false, why: `no records ${shown(type)} are looked up` };
  const hostname = textOf(monitor, "hostname").trim();
  // Its PTR takes an address.
  const name =
    type === "PTR" && isIPv4(hostname) ? `${hostname.split(".").toReversed().join(".")}.in-addr.arpa` : hostname;
  const domain = vetHost(name, context.options, { connects: false });
  if (!domain.ok) return domain;
  const resolver = textOf(monitor, "dns_resolve_server").trim();
  const port = numberOf(monitor, "port") ?? USUAL_PORT;
  if ((resolver !== "" && resolver !== USUAL_RESOLVER) || port !== USUAL_PORT) {
    context.leaveOut("dns_resolve_server", "each probe asks its own resolvers");
  }
  return { ok: true, fields: { url: domain.value, dns: { type, ...mapConditions(monitor, type, context) } } };
}

/** Whether a text can be data of a record, for the types that a condition compares as a whole. */
const DATA: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["A", isIPv4],
  ["AAAA", (text) => isIPv6(text) && !text.includes("%")],
  ["CNAME", isName],
  ["NS", isName],
  ["PTR", isName],
]);

/** No top-level domain is a number, so the name would be an address. */
function isName(text: string): boolean {
  const name = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase();
  return isUsableName(name) && !/^\d+$/.test(name.split(".").at(-1) ?? "");
}

/** Maximum length of a compared value, in characters. */
const LONGEST_VALUE = 4_096;

/**
 * Maps the conditions of release 2 (louislam/uptime-kuma, server/monitor-conditions/expression.js). One record has to meet
 * them: of one condition that is the same here, of several it is not.
 */
function mapConditions(monitor: Source, type: string, { leaveOut }: Context): Fields {
  const conditions = listOf(monitor, "conditions");
  if (conditions.length === 0) return {};
  const [condition] = conditions;
  const { operator = "", value = "" } = isRecord(condition) && conditions.length === 1 ? condition : {};
  const text = typeof value === "string" ? value.trim() : "";
  const isPlain = text !== "" && text.length <= LONGEST_VALUE && text.isWellFormed() && !/\p{Cc}/u.test(text);
  const isSame = operator === "equals" ? DATA.get(type)?.(text) === true : operator === "contains" && type === "TXT";
  if (isPlain && isSame) return { op: "contains", values: [text] };
  leaveOut("conditions", `they are not one of those that Vantage has: any ${type} record is up`);
  return {};
}
