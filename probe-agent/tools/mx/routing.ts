import { isIP } from "node:net";
import { routingFindings, type HostFacts } from "#probe-agent/analysis/mail/domain/exchangers.ts";
import { daneFindings, ROUTING_ADVICE } from "#probe-agent/analysis/mail/domain/routing-advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { mailProvider } from "#probe-agent/analysis/mail/domain/providers.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { inspectDane, type HostDane } from "#probe-agent/tools/mx/dane.ts";
import { detailHosts, findHosts } from "#probe-agent/tools/mx/hosts.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";

type Result = ResultOf<typeof mx>;
/** The fields of a result that describe the routing of mail. */
export type RoutingResult = Pick<Result, "status" | "records" | "null_mx" | "implicit_mx" | "provider" | "ipv6">;

/** Routing of a domain, with findings and limitations. */
interface RoutingCheck {
  readonly routing: RoutingResult;
  /** Findings on the hosts and their TLSA records. */
  readonly findings: readonly Finding[];
  readonly limitations: readonly string[];
}

/** Maximum number of hosts whose DANE is validated. One host can need 60 DNS queries. */
const MAX_DANE = 6;
const RESERVE_MS = 600;
const MAX_NAME = 260;
const MAX_MESSAGE = 700;

/** Finds a domain's mail hosts and their addresses, then looks up all other data of the hosts in parallel. */
export async function inspectRouting(net: Net, lookUp: LookUp, domain: string): Promise<RoutingCheck> {
  const found = await findHosts(lookUp, domain);
  const patience = net.remainingMs() - RESERVE_MS;
  const [hosts, danes] = await Promise.all([
    waitAtMost(patience, detailHosts(net, found.hosts), [...found.hosts]),
    inspectDanes(net, found.hosts, patience),
  ]);
  const routing = { ...found, hosts };
  const addresses = hosts.flatMap((host) => host.addresses.map(({ ip }) => ip));
  const records = hosts.map((host) => toRecord(host, danes.get(host.host) ?? NOT_ASKED));
  const result: RoutingResult = {
    status: found.status,
    records,
    null_mx: found.nullMx,
    implicit_mx: found.implicitMx,
    provider: mailProvider(hosts.map(({ host }) => host)),
    ipv6: addresses.some((ip) => isIP(ip) === 6)
      ? true
      : hosts.length > 0 && hosts.every(({ complete }) => complete)
        ? false
        : null,
  };
  const daneFacts = [...danes].map(([host, dane]) => ({ host, ...dane }));
  const drafts = [...daneFindings(daneFacts), ...routingFindings(routing)].map((draft) => ({
    ...draft,
    message: toPrintableAscii(draft.message, MAX_MESSAGE),
    ...(draft.where === undefined ? {} : { where: toPrintableAscii(draft.where, MAX_NAME) }),
  }));
  const findings = adviseOn(ROUTING_ADVICE, drafts, { domain });
  return { routing: result, findings, limitations: limitationsOf(found.total, records) };
}

const NOT_ASKED: HostDane = { status: "absent", records: [], reason: null };

async function inspectDanes(net: Net, hosts: readonly HostFacts[], patience: number): Promise<Map<string, HostDane>> {
  const names = [...new Set(hosts.map(({ host }) => host))].filter((host) => host !== "." && isIP(host) === 0);
  const late: HostDane = { status: "unknown", records: [], reason: "DANE could not be validated in time" };
  const skipped: HostDane = {
    status: "unknown",
    records: [],
    reason: `only the first ${MAX_DANE} hosts are checked`,
  };
  return new Map(
    await Promise.all(
      names.map(async (host, index) => {
        const dane = index < MAX_DANE ? waitAtMost(patience, inspectDane(net, host), late) : skipped;
        return [host, await dane] as const;
      }),
    ),
  );
}

function toRecord(host: HostFacts, dane: HostDane): Result["records"][number] {
  return {
    priority: host.priority,
    host: toPrintableAscii(host.host, MAX_NAME),
    ttl: host.ttl,
    addresses: host.addresses.map((address) => ({
      ...address,
      ptr: address.ptr === null ? null : toPrintableAscii(address.ptr, MAX_NAME),
    })),
    is_cname: host.isAlias,
    dane,
  };
}

/** Returns limitations for hosts that were not checked and for DANE that is unknown. */
function limitationsOf(total: number, records: Result["records"]): string[] {
  const rest =
    total > records.length && records.length > 0
      ? [`The domain has ${total} MX records; the first ${records.length} were checked.`]
      : [];
  const danes = records.flatMap(({ host, dane: { status, reason } }) =>
    status === "unknown" ? [`DANE of ${host} is unknown: ${reason ?? "no answer"}.`] : [],
  );
  return [...rest, ...danes];
}
