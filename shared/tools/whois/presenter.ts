import { existing, fact } from "#shared/presentation/build.ts";
import type { Verdict, Fact } from "#shared/presentation/presentation.ts";
import { definePresenter, type ToolPresentation } from "#shared/tools/define-presenter.ts";
import { date, distance, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { whois as contract } from "#shared/tools/whois/contract.ts";

type Whois = ResultOf<typeof contract>;

/** Days before the end of a registration from which its date is marked, as in the tool's findings. */
const SOON_DAYS = 30;
const MOST_SERVERS = 6;
const DAY_MS = 86_400_000;

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

function tellUnheld(data: Whois, state: Exclude<Whois["state"], "registered">): ToolPresentation {
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

function tellDomain(data: Whois, now: Date): ToolPresentation {
  const { registrar, expires, registrant, private_suffix: suffix } = data;
  const signed = data.dnssec.signed;
  const left = daysLeft(expires, now);
  const isStopped = whyStopped(data.status) !== null || (left !== null && left < 0);
  return {
    verdict: worst([verdictOf(data.findings), isStopped ? "bad" : "good"]),
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
  const left = daysLeft(expires, now);
  const away = expires === null ? null : distance(expires, now);
  const stopped = whyStopped(data.status);
  if (left !== null && left < 0) return `The registration of ${name} expired ${away ?? ""}`;
  if (stopped !== null) return `${name} ${stopped}`;
  if (left !== null && left <= SOON_DAYS) return `The registration of ${name} ends ${away ?? ""}`;
  const at = registrar?.name ? ` at ${registrar.name}` : "";
  if (expires === null || away === null) return `${name} is registered${at}; the registry does not say until when`;
  return `${name} is registered until ${expires.slice(0, 10)} (${away})${at}`;
}

/** Returns the days until a date; negative when past. Null if it is not stated. */
function daysLeft(expires: string | null, now: Date): number | null {
  const days = expires === null ? Number.NaN : (Date.parse(expires) - now.getTime()) / DAY_MS;
  return Number.isNaN(days) ? null : days;
}

function nameOf({ kind, host, domain, unicode }: Whois): string {
  return kind === "domain" ? (unicode ?? domain ?? host) : host;
}

function toneOfEnd(left: number | null): Verdict | null {
  if (left === null || left > SOON_DAYS) return null;
  return left < 0 ? "bad" : "warning";
}

/** What a lock prevents, by the last part of its status. */
const LOCKED: Readonly<Record<string, string>> = {
  deleteprohibited: "deletion",
  transferprohibited: "transfer",
  updateprohibited: "changes",
  renewprohibited: "renewal",
};

/**
 * EPP statuses (RFC 5731 section 2.3, RFC 3915 section 3.1) in the words of RDAP (RFC 8056) or WHOIS, without spaces.
 */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["ok", "no locks"],
  ["active", "in use"],
  ["inactive", "has no name servers"],
  ["clienthold", "taken out of the DNS by the registrar"],
  ["serverhold", "taken out of the DNS by the registry"],
  ["redemptionperiod", "deleted, its last holder can still restore it"],
  ["pendingdelete", "will be deleted within days"],
  ["pendingrestore", "its restoration is under way"],
  ["pendingtransfer", "a transfer to another registrar is under way"],
  ["pendingcreate", "its registration is under way"],
  ["pendingrenew", "its renewal is under way"],
  ["pendingupdate", "a change is under way"],
  ["addperiod", "registered a few days ago"],
  ["renewperiod", "renewed a short time ago"],
  ["autorenewperiod", "renewed by the registry a short time ago"],
  ["transferperiod", "transferred a short time ago"],
]);

/** Statuses of a domain that does not work, as the end of a sentence about it. */
const STOPS: ReadonlyMap<string, string> = new Map([
  ["redemptionperiod", "was deleted: only its last holder can restore it"],
  ["pendingdelete", "is being deleted by the registry"],
  ["clienthold", "is on hold: its registrar has taken it out of the DNS"],
  ["serverhold", "is on hold: the registry has taken it out of the DNS"],
  ["inactive", "has no name servers, so it does not work"],
]);

/** Returns why a domain with these statuses does not work, as the end of a sentence; null if none says so. */
function whyStopped(status: readonly string[]): string | null {
  const words = new Set(status.map(normalize));
  for (const [word, reason] of STOPS) if (words.has(word)) return reason;
  return null;
}

/** Says the statuses of a registration in words: its locks by who set them, and all others. */
function statusFacts(status: readonly string[]): readonly (Fact | null)[] {
  const words = status.map((printed) => ({ printed, word: normalize(printed) }));
  const locks = (setter: string) =>
    words
      .flatMap(({ word }) => (word.startsWith(setter) ? existing(LOCKED[word.slice(setter.length)]) : []))
      .join(", ");
  const others = words.filter(
    ({ word }) => !/^(?:client|server)(?:delete|transfer|update|renew)prohibited$/.test(word),
  );
  const meanings = others.map(({ printed, word }) => {
    const meaning = MEANINGS.get(word);
    return meaning === undefined ? printed : `${printed} (${meaning})`;
  });
  return [
    fact("Status", meanings.join(", "), { tone: whyStopped(status) === null ? null : "bad" }),
    fact("Registrar locks", locks("client")),
    fact("Registry locks", locks("server")),
  ];
}

/** Normalizes a status: "client hold", "clientHold" and "client_hold" are the same. */
function normalize(printed: string): string {
  return printed.toLowerCase().replaceAll(/[ _-]/g, "");
}

/** Presents the registration of a block of addresses. */
function tellNetwork(data: Whois, now: Date): ToolPresentation {
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
function tellAutnum(data: Whois, now: Date): ToolPresentation {
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
function answererOf({ source, rdap_server: rdap, whois_server: server }: Whois): string | null {
  return source === "rdap" ? existing(rdap, "(RDAP)").join(" ") : existing(server, "(WHOIS)").join(" ");
}
