import {
  IANA,
  queryFor,
  readReferral,
  serverText,
  type WhoisServer,
  type WhoisSubject,
} from "#probe-agent/analysis/registry/whois/servers.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** A parsed answer: a word for its outcome, and the server to ask next. */
export interface Reading<T> {
  readonly data: T;
  /** found, absent, limited, reserved, unknown. */
  readonly outcome: string;
  /** Another server that may know more, as printed. Null if none is needed or named. */
  readonly referral: string | null;
  /** The server's own words if it refused the query, otherwise null. */
  readonly limit: string | null;
}

/** One server that was asked. */
interface WhoisStep<T> {
  readonly server: WhoisServer;
  readonly outcome: string;
  /** Null if no answer arrived. */
  readonly answer: { readonly data: T; readonly text: string; readonly cut: boolean } | null;
}

/** All servers that were asked, from the first to the last. */
interface WhoisTrail<T> {
  readonly steps: readonly WhoisStep<T>[];
  /** Why parts may be missing, one sentence each. */
  readonly limitations: readonly string[];
  /** Whether nothing is missing, so that there are no limitations. */
  readonly isComplete: boolean;
  /** The last failure of a server to answer, or of its answer to be parsed. Null if neither failed. */
  readonly failure: Exclude<Outcome<unknown>, { status: "ok" }> | null;
}

/** Maximum number of referrals followed. */
const MAX_REFERRALS = 3;
const QUESTION_MS = 7_000;
/** Time kept for sending the answer back, in milliseconds. */
const RESERVE_MS = 500;

/**
 * Asks the first server (the operator's, `first`, or IANA), then the servers it refers to. Only the operator's own
 * server is exempt from the address rules. Servers that it refers to are vetted like any other.
 */
export async function askWhois<T>(
  net: Net,
  subject: WhoisSubject,
  first: WhoisServer | null,
  read: (text: string, server: WhoisServer) => Promise<Outcome<Reading<T>>>,
): Promise<WhoisTrail<T>> {
  const steps: WhoisStep<T>[] = [];
  const limitations: string[] = [];
  const seen = new Set<string>();
  let failure: WhoisTrail<T>["failure"] = null;
  const own = net.services.whoisServer;
  let next: WhoisServer | null = own ?? first ?? IANA;
  while (next !== null) {
    const server: WhoisServer = next;
    const name = serverText(server);
    if (seen.has(name)) {
      // Registries with complete data refer to themselves. Only a circle of several servers is reported.
      if (serverText(steps.at(-1)?.server ?? server) !== name)
        limitations.push(`WHOIS: referrals lead back to ${name}.`);
      break;
    }
    if (seen.size > MAX_REFERRALS) {
      limitations.push(`WHOIS: more than ${MAX_REFERRALS} referrals; ${name} was not asked.`);
      break;
    }
    seen.add(name);
    const reply = await net.whois.ask({
      ...server,
      query: queryFor(server, subject),
      trusted: server === own,
      timeoutMs: Math.max(1, Math.min(QUESTION_MS, net.remainingMs() - RESERVE_MS)),
    });
    if (reply.status !== "ok") {
      failure = reply;
      const why = reasonOf(reply);
      steps.push({ server, outcome: why, answer: null });
      limitations.push(`WHOIS: ${name} did not answer (${why}).`);
      break;
    }
    const { text, truncated, error } = reply.data;
    if (truncated) limitations.push(`WHOIS: ${name} sent more than 256 KB. The rest was not read.`);
    if (error !== null) limitations.push(`WHOIS: the answer of ${name} broke off (${error}).`);
    const reading = await read(text, server);
    if (reading.status !== "ok") {
      failure = reading;
      steps.push({ server, outcome: reasonOf(reading), answer: null });
      limitations.push(`WHOIS: the answer of ${name} could not be read (${messageOf(reading)}).`);
      break;
    }
    const { data, outcome, referral, limit } = reading.data;
    steps.push({ server, outcome, answer: { data, text, cut: truncated } });
    next = referral === null ? null : readReferral(referral);
    if (outcome === "limited") limitations.push(describeRefusal(name, limit));
    if (outcome === "unknown" && referral === null)
      limitations.push(`WHOIS: ${name} answered, but its answer contains no readable registration.`);
    if (referral !== null && next === null) limitations.push(`WHOIS: ${name} refers to an unusable WHOIS server.`);
  }
  return { steps, limitations, isComplete: limitations.length === 0, failure };
}

/** Describes a refusal because of a rate limit. The server's own words say how long to wait, if it does. */
function describeRefusal(name: string, words: string | null): string {
  const quoted = words === null ? "" : `: "${words}"`;
  return `WHOIS: ${name} refused the query because of its rate limit${quoted}. Try again later.`;
}

function reasonOf(reply: Exclude<Outcome<unknown>, { status: "ok" }>): string {
  return reply.status === "failed" ? reply.reason : "not allowed";
}

function messageOf(reply: Exclude<Outcome<unknown>, { status: "ok" }>): string {
  return reply.status === "failed" ? reply.message : "not allowed";
}
