import { existing, fact } from "#shared/presentation/build.ts";
import type { Told } from "#shared/presentation/presenter.ts";
import { date } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { whois } from "#shared/tools/whois.ts";

type Whois = ResultOf<typeof whois>;

/** Presents the registration of a block of addresses. */
export function tellNetwork(data: Whois, now: Date): Told {
  const { network } = data;
  const block =
    network === null ? null : listFirst(network.cidrs, 2) || `${network.start_address} to ${network.end_address}`;
  const holder = data.registrant?.org ?? network?.name ?? null;
  return {
    verdict: "neutral",
    headline: `${data.host} is in ${block ?? "a registered block"}${holder === null ? "" : `, held by ${holder}`}`,
    facts: existing(
      fact("Block", block),
      fact("Name", network?.name),
      fact("Country", network?.country),
      fact("Kind", network?.type?.toLowerCase()),
      ...holdingFacts(network, now),
      fact("Answered by", answererOf(data)),
    ),
  };
}

/** Presents the registration of an AS number. */
export function tellAutnum(data: Whois, now: Date): Told {
  const { autnum } = data;
  const holder = autnum?.organization ?? data.registrant?.org ?? autnum?.name ?? null;
  const isRange = autnum !== null && autnum.start_asn !== autnum.end_asn;
  return {
    verdict: "neutral",
    headline: `AS${data.host.replace(/^as/i, "")} is ${holder === null ? "registered" : `held by ${holder}`}`,
    facts: existing(
      fact("Holder", holder),
      fact("Name", autnum?.name),
      fact("Country", autnum?.country),
      fact("Registered as", isRange ? `part of AS${autnum.start_asn} to AS${autnum.end_asn}` : null),
      ...holdingFacts(autnum, now),
      fact("Answered by", answererOf(data)),
    ),
  };
}

function holdingFacts(held: Whois["network"] | Whois["autnum"], now: Date) {
  const { registered_at: since = null, changed_at: changed = null } = held ?? {};
  return [
    fact("Registered", since === null ? null : date(since, now)),
    fact("Last change", changed === null ? null : date(changed, now)),
    fact("Status", held?.status.join(", ")),
    fact("Report abuse to", held?.abuse_email),
  ];
}

/** Names the service whose answer was used, with its protocol. */
export function answererOf({ source, rdap_server: rdap, whois_server: server }: Whois): string | null {
  return source === "rdap" ? existing(rdap, "(RDAP)").join(" ") : existing(server, "(WHOIS)").join(" ");
}
