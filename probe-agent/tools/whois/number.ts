import { numberWhoisAnalysis } from "#probe-agent/tools/whois/analyses.ts";
import { autnumRow, networkRow } from "#probe-agent/analysis/registry/rdap/rows.ts";
import { ok, type Outcome } from "#shared/contracts/outcome.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { NumberAnswer, NumberRegistration } from "#probe-agent/tools/whois/number-resource.ts";
import { serverText, type WhoisServer, type WhoisSubject } from "#probe-agent/analysis/registry/whois/servers.ts";
import { isIn, readBlock, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { askRegistry, type RdapReply } from "#probe-agent/sources/rdap.ts";
import { askWhois, type Reading } from "#probe-agent/sources/whois.ts";
import { isLimited, noRegistration, rdapBase, type Found, type Lookup } from "#probe-agent/tools/whois/answer.ts";

type Subject = Exclude<WhoisSubject, { kind: "domain" }>;

const RDAP_MS = 10_000;
type NumberReply = RdapReply<"ip"> | RdapReply<"autnum">;
type Registration = Pick<Found, "network" | "autnum">;

const LATE = { status: "failed", about: "registry", source: "service", reason: "no answer in time" } as const;

/** Looks up the registration of an address or AS number: RDAP first, then WHOIS if RDAP returns nothing. */
export async function lookUpNumber(net: Net, subject: Subject): Promise<Lookup> {
  const { reply, registration } = await askRdap(net, subject);
  if (reply.status === "found") {
    if (registration !== null) {
      const servers = [{ server: reply.url, protocol: "rdap", outcome: "found" } as const];
      const found: Found = {
        registered: true,
        state: "registered",
        ...registration,
        rdapServer: rdapBase(reply.url),
        raw: reply.raw,
        servers,
        source: "rdap",
        limitations: [],
      };
      return { ok: true, found };
    }
  }
  if (reply.status === "absent") {
    const servers = [{ server: reply.url, protocol: "rdap", outcome: "absent" } as const];
    const found: Found = {
      registered: false,
      state: "absent",
      rdapServer: rdapBase(reply.url),
      raw: null,
      servers,
      source: "rdap",
      limitations: [],
    };
    return { ok: true, found };
  }
  const reason =
    reply.status === "failed"
      ? reply.reason
      : reply.status === "no_registry"
        ? "no registry is listed"
        : "the answer is about another object";
  return await lookUpByWhois(net, subject, reply, `RDAP returned no registration (${reason}).`);
}

async function lookUpByWhois(net: Net, subject: Subject, reply: NumberReply, why: string): Promise<Lookup> {
  const read = async (text: string, server: WhoisServer): Promise<Outcome<Reading<NumberAnswer>>> => {
    const analysed = await runAnalysis(net, numberWhoisAnalysis, { text, server: server.host });
    if (analysed.status !== "ok") return analysed;
    const { answer: data, limit } = analysed.data;
    const found = data.registration !== null && containsSubject(data.registration, subject);
    // IANA and ARIN print the block that they delegated and its current registry.
    return ok({ data, outcome: found ? "found" : (data.statement ?? "unknown"), referral: data.referral, limit });
  };
  const { steps, limitations, failure } = await askWhois(net, subject, null, read);
  const answers = steps.flatMap(({ server, outcome, answer }) =>
    answer === null ? [] : [{ server, outcome, text: answer.text, ...answer.data }],
  );
  const last =
    answers.findLast(({ outcome }) => outcome === "found") ?? answers.findLast(({ outcome }) => outcome === "absent");
  if (last === undefined)
    return {
      ok: false,
      failure: noRegistration({
        why: [why, ...limitations],
        failure,
        limited: isLimited(reply) || answers.some(({ outcome }) => outcome === "limited"),
        unlisted: false,
      }),
    };
  const { registration, server } = last;
  return {
    ok: true,
    found: {
      registered: last.outcome === "found",
      state: last.outcome === "found" ? "registered" : "absent",
      ...(registration === null ? {} : toRows(registration, `whois://${serverText(server)}`)),
      whoisServer: serverText(server),
      raw: last.text,
      servers: steps.map(
        (step) => ({ server: serverText(step.server), protocol: "whois", outcome: step.outcome }) as const,
      ),
      source: "whois",
      limitations: [why, ...limitations],
    },
  };
}

/** Asks the registry by RDAP. Returns its answer and its record of the subject, or null if it has none. */
async function askRdap(
  net: Net,
  subject: Subject,
): Promise<{ readonly reply: NumberReply; readonly registration: Registration | null }> {
  if (subject.kind === "ip") {
    const reply = await waitAtMost<RdapReply<"ip">>(RDAP_MS, askRegistry(net, subject, RDAP_MS), LATE);
    const network = reply.status === "found" ? reply.finding?.network : undefined;
    const registration = network === undefined || reply.status !== "found" ? null : networkRow(network, reply.url);
    return { reply, registration: registration && { network: registration } };
  }
  const reply = await waitAtMost<RdapReply<"autnum">>(RDAP_MS, askRegistry(net, subject, RDAP_MS), LATE);
  const autnum = reply.status === "found" && reply.finding !== null ? autnumRow(reply.finding, reply.url) : null;
  return { reply, registration: autnum && { autnum } };
}

function containsSubject({ range, autnum }: NumberRegistration, subject: Subject): boolean {
  if (subject.kind === "autnum") return autnum !== null && autnum.first <= subject.asn && subject.asn <= autnum.last;
  const ip = readIp(subject.ip);
  return ip !== null && range !== null && range.cidrs.some((cidr) => isWithin(ip, cidr));
}

function isWithin(ip: NonNullable<ReturnType<typeof readIp>>, cidr: string): boolean {
  const block = readBlock(cidr);
  return block !== null && isIn(ip, block);
}

function toRows(found: NumberRegistration, url: string): Pick<Found, "network" | "autnum"> {
  const { handle, name, type, country, registered_at, changed_at, abuse_email, range, autnum } = found;
  const common = {
    handle,
    name,
    type,
    country,
    status: [...found.status],
    registered_at,
    changed_at,
    abuse_email,
    url,
  };
  return {
    ...(range === null
      ? {}
      : {
          network: {
            ...common,
            start_address: range.first,
            end_address: range.last,
            cidrs: [...range.cidrs],
            parent_handle: null,
          },
        }),
    ...(autnum === null
      ? {}
      : {
          autnum: { ...common, start_asn: autnum.first, end_asn: autnum.last, organization: found.organization },
        }),
  };
}
