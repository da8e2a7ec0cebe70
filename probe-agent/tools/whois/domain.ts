import { domainToASCII } from "node:url";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { domainWhoisAnalysis } from "#probe-agent/tools/whois/analyses.ts";
import type { RdapDomain } from "#probe-agent/analysis/registry/rdap/domain.ts";
import type { WhoisRecord } from "#probe-agent/tools/whois/parse.ts";
import { serverText } from "#probe-agent/analysis/registry/whois/servers.ts";
import type { DomainSubject } from "#probe-agent/tools/whois/subject.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { askRegistry, fetchRegistration, type RdapReply } from "#probe-agent/sources/rdap.ts";
import { askWhois, type Reading } from "#probe-agent/sources/whois.ts";
import { isLimited, noRegistration, rdapBase, type Found, type Lookup } from "#probe-agent/tools/whois/answer.ts";
import {
  mergeRegistrations,
  NO_REGISTRATION,
  readRdapRegistration,
  readWhoisRegistration,
} from "#probe-agent/tools/whois/registration.ts";

/** Part of the 30 s, in milliseconds, so that WHOIS still has time if RDAP is slow. */
const RDAP_MS = 10_000;
const REGISTRAR_MS = 5_000;

type DomainReply = RdapReply<"domain">;

const LATE: DomainReply = { status: "failed", about: "registry", source: "service", reason: "no answer in time" };

/** Looks up the registration of a domain: RDAP first, then WHOIS if RDAP returns nothing. */
export async function lookUpDomain(net: Net, subject: DomainSubject): Promise<Lookup> {
  // RDAP's list of registries contains only ICANN's public suffixes.
  const reply: DomainReply =
    subject.server === null
      ? await waitAtMost(RDAP_MS, askRegistry(net, { kind: "domain", name: subject.name }, RDAP_MS), LATE)
      : { status: "no_registry" };
  if (reply.status === "absent") return { ok: true, found: absent(reply.url) };
  if (reply.status === "found" && reply.finding !== null) {
    return { ok: true, found: await withRegistrar(net, subject.name, reply.finding, reply) };
  }
  const why =
    reply.status === "no_registry"
      ? "RDAP: no registry is listed for this name."
      : `RDAP returned no registration (${reply.status === "failed" ? reply.reason : "the answer is about another object"}).`;
  return await lookUpByWhois(net, subject, reply, why);
}

function absent(url: string): Found {
  return {
    registered: false,
    state: "absent",
    facts: NO_REGISTRATION,
    rdapServer: rdapBase(url),
    raw: null,
    servers: [{ server: url, protocol: "rdap", outcome: "absent" }],
    source: "rdap",
    limitations: ["A name that nobody holds may still not be available for registration: registries reserve names."],
  };
}

/** Adds data from the registrar's RDAP service. A thin registry has no data about the holder. */
async function withRegistrar(
  net: Net,
  name: string,
  domain: RdapDomain,
  reply: Extract<DomainReply, { status: "found" }>,
): Promise<Found> {
  const found = {
    registered: true,
    state: "registered",
    facts: readRdapRegistration(domain),
    rdapServer: rdapBase(reply.url),
    raw: reply.raw,
    servers: [{ server: reply.url, protocol: "rdap", outcome: "found" }],
    source: "rdap",
    limitations: [],
  } satisfies Found;
  if (domain.holder !== null || domain.related === null) return found;
  const other = await waitAtMost(
    REGISTRAR_MS,
    fetchRegistration(net, { kind: "domain", name }, domain.related, REGISTRAR_MS),
    LATE,
  );
  const registrar = other.status === "found" ? other.finding : null;
  const outcome = registrar === null ? (other.status === "failed" ? other.reason : "unknown") : "found";
  return {
    ...found,
    facts: registrar === null ? found.facts : mergeRegistrations(found.facts, readRdapRegistration(registrar)),
    servers: [...found.servers, { server: domain.related.slice(0, 300), protocol: "rdap", outcome }],
    limitations: registrar === null ? [`RDAP: the registrar's own service returned no registration (${outcome}).`] : [],
  };
}

async function lookUpByWhois(net: Net, subject: DomainSubject, reply: DomainReply, why: string): Promise<Lookup> {
  const first = subject.server === null ? null : { host: subject.server, port: 43 };
  const { steps, limitations, isComplete, failure } = await askWhois(
    net,
    { kind: "domain", name: subject.name },
    first,
    async (text, server): Promise<Outcome<Reading<WhoisRecord | null>>> => {
      const read = await runAnalysis(net, domainWhoisAnalysis, { text, server: server.host });
      if (read.status !== "ok") return read;
      const { answer: record, limit } = read.data;
      const isOther = record.domain !== null && aLabels(record.domain) !== subject.name;
      // IANA reports on the top-level domain and names its registry. A thin registry has no holder, but the registrar
      // has one.
      const goesOn =
        isOther || (record.verdict === "registered" && record.holder === null) || record.verdict === "unknown";
      return ok({
        data: isOther ? null : record,
        outcome: isOther ? "refers on" : record.verdict === "registered" ? "found" : record.verdict,
        referral: goesOn && !isTopLevel(subject) ? record.referral : null,
        limit,
      });
    },
  );
  const answers = steps.flatMap(({ server, answer }) =>
    answer === null || answer.data === null ? [] : [{ server, record: answer.data, text: answer.text }],
  );
  const [registry, ...others] = answers.flatMap(({ server, record }) =>
    isStated(record.verdict) ? [{ server, record, state: record.verdict }] : [],
  );
  if (registry === undefined) {
    const limited = isLimited(reply) || answers.some(({ record }) => record.verdict === "limited");
    const none = isComplete ? ["WHOIS: no server names a registry for this name."] : [];
    const unlisted = reply.status === "no_registry" && isComplete;
    return { ok: false, failure: noRegistration({ why: [why, ...limitations, ...none], failure, limited, unlisted }) };
  }
  const registrar = others.find(({ state }) => state === "registered");
  const facts = readWhoisRegistration(registry.record);
  const rdapStep =
    reply.status === "failed" ? [{ server: "RDAP", protocol: "rdap", outcome: reply.reason } as const] : [];
  const { created_before: before } = registry.record;
  return {
    ok: true,
    found: {
      registered: registry.record.registered,
      state: registry.state,
      facts: registrar === undefined ? facts : mergeRegistrations(facts, readWhoisRegistration(registrar.record)),
      whoisServer: serverText(registry.server),
      raw: answers.map(({ text }) => text).join("\n"),
      servers: [
        ...rdapStep,
        ...steps.map(({ server, outcome }) => ({ server: serverText(server), protocol: "whois", outcome }) as const),
      ],
      source: "whois",
      limitations: [
        why,
        ...limitations,
        ...(before ? ["The registry only states that the domain was registered before the stated date."] : []),
        ...(NOTES.get(registry.state) ?? []),
      ],
    },
  };
}

type StatedVerdict = Exclude<WhoisRecord["verdict"], "limited" | "unknown">;

/** Explanation of each state of a name that nobody holds. */
const NOTES: ReadonlyMap<StatedVerdict, readonly string[]> = new Map([
  ["reserved", ["The registry reserves the name: nobody holds it, and nobody can register it."]],
  ["premium", ["Nobody holds the name. The registry sells it at a special price."]],
  ["unassignable", ["The registry does not assign this name to anyone."]],
  ["not_assigned", ["The name exists in the registry but is not assigned to anyone."]],
]);

function isStated(verdict: WhoisRecord["verdict"]): verdict is StatedVerdict {
  return verdict !== "limited" && verdict !== "unknown";
}

function isTopLevel({ name }: DomainSubject): boolean {
  return !name.includes(".");
}

function aLabels(name: string): string {
  return domainToASCII(name).toLowerCase();
}
