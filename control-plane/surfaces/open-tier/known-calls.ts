import { LRUCache } from "lru-cache";
import type { Counter } from "prom-client";
import type { AnswerCache, CachedAnswer } from "#control-plane/surfaces/open-tier/answer-cache.ts";
import type { Format } from "#control-plane/surfaces/open-tier/formats.ts";

/** A call by its exact text, with its answer. */
interface KnownCall {
  readonly kept: CachedAnswer;
  readonly format: Format;
  readonly body: string;
  /** Counts cache hits. */
  readonly hits: Pick<Counter.Internal, "inc">;
}

/** Calls of the last minute, by verbatim path and query. */
interface CallCache {
  find(url: string): KnownCall | undefined;
  keep(url: string, call: KnownCall): void;
}

const MOST_CALLS = 5_000;
const LONGEST_URL = 1_000;

/** Creates a cache of calls that lives as long as their answers, which `answers` holds. */
export function createCallCache(answers: AnswerCache): CallCache {
  const known = new LRUCache<string, KnownCall>({ max: MOST_CALLS });
  return {
    find(url) {
      const call = known.get(url);
      if (call === undefined || answers.isFresh(call.kept)) return call;
      known.delete(url);
      return undefined;
    },
    keep(url, call) {
      if (url.length <= LONGEST_URL) known.set(url, call);
    },
  };
}
