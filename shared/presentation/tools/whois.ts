import { existing, fact } from "#shared/presentation/build.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter, type Told } from "#shared/presentation/presenter.ts";
import { statusFacts, whyStopped } from "#shared/presentation/tools/registration-status.ts";
import { date, distance, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { whois as contract } from "#shared/tools/whois.ts";

type Whois = ResultOf<typeof contract>;

/** Days before the end of a registration from which its date is marked, as in the tool's findings. */
const SOON_DAYS = 30;
const MOST_SERVERS = 6;

/** What a registry says about a resource that nobody holds. */
const UNHELD: Readonly<Record<Exclude<Whois["state"], "registered">, string>> = {
  absent: "is not registered",
  reserved: "is not registered: the registry keeps it back",
  premium: "is not registered: the registry sells it at a special price",
  unassignable: "cannot be registered by anyone",
  not_assigned: "is assigned to nobody",
};

/** whois: how long a registration lasts and at which registrar, its status in words, and its holder. */
export const whois = definePresenter(contract, (data, now) => {
  if (data.state !== "registered") return tellUnheld(data, data.state);
  if (data.kind === "domain") return tellDomain(data, now);
  return data.kind === "ip" ? tellNetwork(data, now) : tellAutnum(data, now);
});

function tellUnheld(data: Whois, state: Exclude<Whois["state"], "registered">): Told {
  return {
    verdict: "neutral",
    headline: `${nameOf(data)} ${UNHELD[state]}`,
    facts: existing(
      fact("Registered", yesNo(data.registered) ?? "the registry does not say"),
      fact("Suffix", data.public_suffix),
      fact("Answered by", answererOf(data)),
    ),
  };
}

function tellDomain(data: Whois, now: Date): Told {
  const { registrar, expires, days_left: left, registrant, private_suffix: suffix } = data;
  const signed = data.dnssec.signed;
  return {
    verdict: worst([verdictOf(data.findings), whyStopped(data.status) === null ? "good" : "bad"]),
    headline: headlineOf(data, now),
    facts: existing(
      fact("Expires", expires === null ? "not stated" : date(expires, now), { tone: toneOfEnd(left) }),
      fact("Registrar", registrar?.name ?? "not stated"),
      fact("Name servers", listFirst(data.nameservers, MOST_SERVERS)),
      ...statusFacts(data.status),
      fact("DNSSEC", signed === null ? null : signed ? "signed" : "not signed", {
        tone: signed === true ? "good" : null,
      }),
      fact("Registered", data.created === null ? null : date(data.created, now)),
      fact("Last change", data.updated === null ? null : date(data.updated, now)),
      fact("Holder", registrant?.org ?? (data.privacy === true ? "hidden" : null)),
      fact("Holder's country", registrant?.country),
      fact("Domain", data.unicode === null ? null : data.domain),
      fact("Names given out by", suffix === null ? null : `the owner of ${suffix}`),
      fact("Report abuse to", registrar?.abuse_email ?? registrar?.phone),
      fact("Registrar's site", registrar?.url),
      fact("Answered by", answererOf(data)),
    ),
  };
}

function headlineOf(data: Whois, now: Date): string {
  const name = nameOf(data);
  const { expires, registrar } = data;
  const away = expires === null ? null : distance(expires, now);
  const stopped = whyStopped(data.status);
  if (data.days_left !== null && data.days_left < 0) return `The registration of ${name} expired ${away ?? "already"}`;
  if (stopped !== null) return `${name} ${stopped}`;
  if (expires === null || away === null)
    return `${name} is registered${registrar?.name ? ` at ${registrar.name}` : ""}; the registry does not say until when`;
  if (data.days_left !== null && data.days_left <= SOON_DAYS) return `The registration of ${name} ends ${away}`;
  return `${name} is registered until ${expires.slice(0, 10)} (${away})${registrar?.name ? ` at ${registrar.name}` : ""}`;
}

function tellNetwork(data: Whois, now: Date): Told {
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

function tellAutnum(data: Whois, now: Date): Told {
  const { autnum } = data;
  const holder = autnum?.organization ?? data.registrant?.org ?? autnum?.name ?? null;
  const isRange = autnum !== null && autnum.start_asn !== autnum.end_asn;
  return {
    verdict: "neutral",
    headline: `${nameOf(data)} is ${holder === null ? "registered" : `held by ${holder}`}`,
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

function nameOf({ kind, host, domain, unicode }: Whois): string {
  return kind === "domain" ? (unicode ?? domain ?? host) : host;
}

function answererOf({ source, rdap_server: rdap, whois_server: server }: Whois): string | null {
  return source === "rdap" ? existing(rdap, "(RDAP)").join(" ") : existing(server, "(WHOIS)").join(" ");
}

function toneOfEnd(left: number | null): Verdict | null {
  if (left === null || left > SOON_DAYS) return null;
  return left < 0 ? "bad" : "warning";
}
