import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

/** What the DNS says to one question, aliases followed. */
export interface Found {
  /** none: the name has no record of this type; absent: there is no such name; unknown: nobody could tell. */
  readonly state: "records" | "none" | "absent" | "unknown";
  /** The resolver's word, or why nothing is known: TIMEOUT, SERVFAIL, alias loop, ... */
  readonly status: string;
  readonly records: readonly DnsRecord[];
  /** Targets of aliases in order; empty where the name itself has the records. */
  readonly aliases: readonly string[];
  /** As it came; null where nothing was asked. */
  readonly answer: DnsAnswer | null;
}

/** Asks each question once in a job, some at a time. */
export interface LookUp {
  /** `name` in presentation form; what DNS cannot hold is absent. */
  (name: string, type: string): Promise<Found>;
  /** Questions that nobody answered, "TYPE name: why", in the order they failed. */
  readonly unanswered: readonly string[];
}

/** Patience for one question, what is left for the result itself, questions at once and in all. */
const QUESTION_MS = 3_000;
const RESERVE_MS = 900;
const AT_ONCE = 16;
const MAX_QUESTIONS = 400;

/** A look-up that remembers its answers for one job. With `dnssecOk` answers carry their signatures, for validation. */
export function createLookUp(net: Net, options: { readonly dnssecOk?: boolean } = {}): LookUp {
  const asked = new Map<string, Promise<Found>>();
  const unanswered: string[] = [];
  const turn = createTurns(AT_ONCE);
  const lookUp = (name: string, type: string): Promise<Found> => {
    const key = `${name.toLowerCase()} ${type}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    const found =
      textToName(name) === null
        ? Promise.resolve(nothing("absent", "INVALID_NAME"))
        : asked.size >= MAX_QUESTIONS
          ? Promise.resolve(nothing("unknown", "too many questions"))
          : turn(() => ask(net, name, type, options.dnssecOk === true));
    const noted = found.then((answer) => {
      if (answer.state === "unknown") unanswered.push(`${type} ${name}: ${answer.status}`);
      return answer;
    });
    asked.set(key, noted);
    return noted;
  };
  return Object.assign(lookUp, { unanswered });
}

async function ask(net: Net, name: string, type: string, dnssecOk: boolean): Promise<Found> {
  const timeoutMs = Math.max(0, Math.min(QUESTION_MS, net.remainingMs() - RESERVE_MS));
  const answer = await net.dns.query({ name, type, timeoutMs, ...(dnssecOk ? { dnssecOk } : {}) });
  if (answer.status !== "NOERROR" && answer.status !== "NXDOMAIN") {
    return { ...nothing("unknown", answer.status), answer };
  }
  // What was cut and could not be had over TCP is no answer (RFC 2181 section 9).
  if (answer.flags.tc) return { ...nothing("unknown", "TRUNCATED"), answer };
  const { records, targets, loop } = followCnames(name, type, answer.answers);
  if (loop) return { ...nothing("unknown", "alias loop"), aliases: targets, answer };
  const state = records.length > 0 ? "records" : answer.status === "NXDOMAIN" ? "absent" : "none";
  return { state, status: answer.status, records, aliases: targets, answer };
}

function nothing(state: Found["state"], status: string): Found {
  return { state, status, records: [], aliases: [], answer: null };
}

/** TXT texts, the strings of each joined without anything between, one character per octet (latin1). */
export function textsOf(found: Found): string[] {
  return found.records.flatMap(({ typed }) => {
    const strings = typed["strings"];
    return Array.isArray(strings) ? [strings.join("")] : [];
  });
}

/** Fields of the records that are text: address, exchange, ptrdname. */
export function fieldsOf(found: Found, field: string): string[] {
  return found.records.map(({ typed }) => typed[field]).filter((value) => typeof value === "string");
}

/** Lets `limit` pieces of work run at a time, the others in their order. */
function createTurns(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    } else running += 1;
    try {
      return await work();
    } finally {
      // The turn is handed on, so that nobody who comes meanwhile is one too many.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
