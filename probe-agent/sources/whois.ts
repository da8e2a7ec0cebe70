import {
  IANA,
  queryFor,
  readReferral,
  serverText,
  type WhoisServer,
  type WhoisSubject,
} from "#probe-agent/analysis/registry/whois/servers.ts";
import type { Outcome } from "#shared/outcome.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** What an answer comes to: a word for people, and whether and where to go on. */
export interface Reading<T> {
  readonly data: T;
  /** found, absent, limited, reserved, unknown. */
  readonly outcome: string;
  /** Another server that may know more, as printed; null: no need or none named. */
  readonly referral: string | null;
  /** The server's own words where it turned the question away, else null. */
  readonly limit: string | null;
}

/** One server asked. */
interface WhoisStep<T> {
  readonly server: WhoisServer;
  readonly outcome: string;
  /** Null where no answer came. */
  readonly answer: { readonly data: T; readonly text: string; readonly cut: boolean } | null;
}

/** The way from the first server to the last. */
interface WhoisTrail<T> {
  readonly steps: readonly WhoisStep<T>[];
  /** Why parts may be missing, one sentence each. */
  readonly limitations: readonly string[];
  /** The last failure of a server to answer, or of its answer to be read; null where neither failed. */
  readonly failure: Exclude<Outcome<unknown>, { status: "ok" }> | null;
}

/** Referrals followed at most. */
const MAX_REFERRALS = 3;
const QUESTION_MS = 7_000;
/** Left for the answer's way back. */
const RESERVE_MS = 500;

/**
 * Asks the first server (the operator's, or IANA), then those it refers to. Only the operator's own is free of the
 * address rules: whoever it names is a stranger.
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
      // Thick registries name themselves; a circle of several is worth a word.
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
      const why = wordOf(reply);
      steps.push({ server, outcome: why, answer: null });
      limitations.push(`WHOIS: ${name} gave no answer (${why}).`);
      break;
    }
    const { text, truncated, error } = reply.data;
    if (truncated) limitations.push(`WHOIS: ${name} sent more than 256 KB; the rest was not read.`);
    if (error !== null) limitations.push(`WHOIS: the answer of ${name} broke off (${error}).`);
    const reading = await read(text, server);
    if (reading.status !== "ok") {
      failure = reading;
      steps.push({ server, outcome: wordOf(reading), answer: null });
      limitations.push(`WHOIS: the answer of ${name} could not be read (${sentenceOf(reading)}).`);
      break;
    }
    const { data, outcome, referral, limit } = reading.data;
    steps.push({ server, outcome, answer: { data, text, cut: truncated } });
    next = referral === null ? null : readReferral(referral);
    if (outcome === "limited") limitations.push(turnedAway(name, limit));
    if (outcome === "unknown" && referral === null)
      limitations.push(`WHOIS: ${name} answered, but with nothing that can be read as a registration.`);
    if (referral !== null && next === null) limitations.push(`WHOIS: ${name} refers to no usable WHOIS server.`);
  }
  return { steps, limitations, failure };
}

/** The server's own words tell how long to wait, where it does. */
function turnedAway(name: string, words: string | null): string {
  const quoted = words === null ? "" : `: "${words}"`;
  return `WHOIS: ${name} limits how often it may be asked and turned this question away${quoted}. Ask again later.`;
}

function wordOf(reply: Exclude<Outcome<unknown>, { status: "ok" }>): string {
  return reply.status === "failed" ? reply.reason : "not allowed";
}

function sentenceOf(reply: Exclude<Outcome<unknown>, { status: "ok" }>): string {
  return reply.status === "failed" ? reply.message : "not allowed";
}
