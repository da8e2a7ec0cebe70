import type { Question, Reply } from "#probe-agent/analysis/dns/dnssec/session.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";

// All that a chain of trust asks for; a name of a hundred labels ends here.
const MAX_QUERIES = 60;
const QUERY_MS = 3_000;
// Left for the verdict itself, so that a slow resolver is a result and not a missed deadline.
const MARGIN_MS = 300;

/** Answers to the validator's questions, each asked once. */
interface Lookups {
  /** With DO and CD: the resolver's own verdict is not asked for. Status TIMEOUT or "query limit" where there is none. */
  ask(question: Question): Promise<Reply>;
}

/** Which resolver to ask, and how. */
export type Resolver = Pick<DnsQuestion, "transport" | "serverName" | "path"> & { readonly server: string };

/** Asks one resolver within the job's deadline and 60 queries. */
export function createLookups(net: Net, resolver: Resolver): Lookups {
  const asked = new Map<string, Promise<Reply>>();
  return {
    ask({ name, type }) {
      const key = `${name.toLowerCase()} ${type}`;
      const known = asked.get(key);
      if (known !== undefined) return known;
      if (asked.size >= MAX_QUERIES) {
        return Promise.resolve({ status: `limit of ${MAX_QUERIES} queries reached`, answers: [], authority: [] });
      }
      const timeoutMs = Math.max(0, Math.min(QUERY_MS, net.remainingMs() - MARGIN_MS));
      const answer = net.dns.query({ ...resolver, name, type, dnssecOk: true, checkingDisabled: true, timeoutMs });
      asked.set(key, answer);
      return answer;
    },
  };
}
