import type { Question, Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { DnsQuestion } from "#probe-agent/port/dns.ts";

// Enough for every chain of trust. This limit stops a name with a hundred labels.
const MAX_QUERIES = 60;
const QUERY_MS = 3_000;
// Kept for computing the verdict, so that a slow resolver gives a result and not a missed deadline.
const MARGIN_MS = 300;

/** Answers to the validator's questions. Each question is sent once. */
interface Lookups {
  /**
   * Asks with DO and CD, because the resolver's own verdict is not needed. If there is no answer, the status is TIMEOUT
   * or says that the query limit is reached.
   */
  ask(question: Question): Promise<Reply>;
}

/** Resolver to ask, and its transport. */
export type Resolver = Pick<DnsQuestion, "transport" | "serverName" | "path"> & { readonly server: string };

/** Creates lookups at one resolver, within the job's deadline and 60 queries. */
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
