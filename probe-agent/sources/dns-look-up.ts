import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

/** Answer to one DNS question, with aliases followed. */
export interface Found {
  /** none: the name has no record of this type; absent: the name does not exist; unknown: the lookup failed. */
  readonly state: "records" | "none" | "absent" | "unknown";
  /** Status from the resolver, or why nothing is known: TIMEOUT, SERVFAIL, alias loop, ... */
  readonly status: string;
  readonly records: readonly DnsRecord[];
  /** Targets of aliases in order. Empty if the name itself has the records. */
  readonly aliases: readonly string[];
  /** The unprocessed answer. Null if no question was sent. */
  readonly answer: DnsAnswer | null;
}

/** Sends each question only once for each job, a few at the same time. */
export interface LookUp {
  /** `name` is in presentation form. A name that DNS cannot hold is absent. */
  (name: string, type: string): Promise<Found>;
  /** Questions without an answer, "TYPE name: reason", in the order in which they failed. */
  readonly unanswered: readonly string[];
}

/**
 * Time limit of one question, time kept for the result itself, and maximum number of questions at the same time and in
 * total.
 */
const QUESTION_MS = 3_000;
const RESERVE_MS = 900;
const AT_ONCE = 16;
const MAX_QUESTIONS = 400;

/**
 * Creates a lookup that caches its answers for one job. With `dnssecOk`, answers include their signatures, for
 * validation.
 */
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
  // An answer that was truncated and could not be fetched over TCP is no answer (RFC 2181 section 9).
  if (answer.flags.tc) return { ...nothing("unknown", "TRUNCATED"), answer };
  const { records, targets, loop } = followCnames(name, type, answer.answers);
  if (loop) return { ...nothing("unknown", "alias loop"), aliases: targets, answer };
  const state = records.length > 0 ? "records" : answer.status === "NXDOMAIN" ? "absent" : "none";
  return { state, status: answer.status, records, aliases: targets, answer };
}

function nothing(state: Found["state"], status: string): Found {
  return { state, status, records: [], aliases: [], answer: null };
}

/** Returns TXT texts. The strings of each record are joined without a separator, one character per octet (latin1). */
export function textsOf(found: Found): string[] {
  return found.records.flatMap(({ typed }) => {
    const strings = typed["strings"];
    return Array.isArray(strings) ? [strings.join("")] : [];
  });
}

/** Returns the values of a text field of the records: address, exchange, ptrdname. */
export function fieldsOf(found: Found, field: string): string[] {
  return found.records.map(({ typed }) => typed[field]).filter((value) => typeof value === "string");
}

/** Runs up to `limit` tasks at the same time, and the others in their order. */
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
      // The slot is handed over directly, so that a task that arrives meanwhile cannot exceed the limit.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
