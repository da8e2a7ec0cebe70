import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/time/clock.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";

/** Time in seconds for which the open tier caches an answer. */
export const CACHE_SECONDS = 60;

/** A cached answer with its bodies, rendered on first use, by format and verbatim target. */
export interface CachedAnswer {
  readonly answer: CheckAnswer;
  /** Time of the answer, monotonic milliseconds. */
  readonly at: number;
  readonly bodies: Map<string, string>;
}

/** Answers of the last minute and checks in progress. Equal calls share one check. */
export interface AnswerCache {
  /** Returns the cached answer of a key, or the result of `run`, which is called once for all waiting calls. */
  get(key: string, run: () => Promise<CheckAnswer>): Promise<CachedAnswer>;
  /** Returns the cached answer, if there is one. */
  peek(key: string): CachedAnswer | undefined;
  /** Reports whether an answer is still fresh. */
  isFresh(kept: CachedAnswer): boolean;
  /** Returns the age of an answer, whole seconds. */
  age(kept: CachedAnswer): number;
}

const MOST_ANSWERS = 5_000;
/** Maximum size of all answers in characters: their data as JSON, and the same again for rendered bodies. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** Creates an empty cache. Failures go to the waiting calls and are not cached. */
export function createAnswerCache(clock: Clock): AnswerCache {
  const kept = new LRUCache<string, CachedAnswer>({
    max: MOST_ANSWERS,
    maxSize: MOST_CHARACTERS,
    ttl: CACHE_SECONDS * 1_000,
    perf: { now: () => clock.monotonic() },
  });
  const running = new Map<string, Promise<CachedAnswer>>();
  return {
    peek: (key) => kept.get(key),
    get(key, run) {
      const known = kept.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const under = running.get(key);
      if (under !== undefined) return under;
      const started = run().then((answer): CachedAnswer => {
        const made: CachedAnswer = { answer, at: clock.monotonic(), bodies: new Map() };
        if (isCacheable(answer)) kept.set(key, made, { size: sizeOf(answer) });
        return made;
      });
      running.set(key, started);
      const forget = () => running.delete(key);
      started.then(forget, forget);
      return started;
    },
    isFresh: ({ at }) => clock.monotonic() - at < CACHE_SECONDS * 1_000,
    age: ({ at }) => Math.max(0, Math.floor((clock.monotonic() - at) / 1_000)),
  };
}

function isCacheable(answer: CheckAnswer): boolean {
  return answer.kind === "single" && answer.outcome.status === "ok";
}

function sizeOf(answer: CheckAnswer): number {
  return 2 * JSON.stringify(answer).length;
}
