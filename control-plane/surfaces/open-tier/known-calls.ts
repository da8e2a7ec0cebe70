import { LRUCache } from "lru-cache";
import type { Counter } from "prom-client";
import type { Answers, KeptAnswer } from "#control-plane/surfaces/open-tier/kept-answers.ts";
import type { Format } from "#control-plane/surfaces/open-tier/formats.ts";

/** A call word for word, with the answer it gets. */
export interface KnownCall {
  readonly kept: KeptAnswer;
  readonly format: Format;
  readonly body: string;
  /** Counts answers that were at hand. */
  readonly hits: Pick<Counter.Internal, "inc">;
}

/** Calls of the last minute by their path and query as sent. */
export interface Calls {
  find(url: string): KnownCall | undefined;
  keep(url: string, call: KnownCall): void;
}

const MOST_CALLS = 5_000;
const LONGEST_URL = 1_000;

/** Remembers calls as long as their answers are fresh; the answers themselves are kept elsewhere. */
export function createCalls(answers: Answers): Calls {
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
