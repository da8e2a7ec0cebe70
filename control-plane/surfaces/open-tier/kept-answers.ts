import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";

/** Milliseconds the open tier repeats an answer. */
export const CACHE_SECONDS = 60;

/** A finished answer with its bodies, rendered when first asked for; by format and target as it was written. */
export interface KeptAnswer {
  readonly answer: CheckAnswer;
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly bodies: Map<string, string>;
}

/** Answers of the last minute, and those under way: one check for all who ask the same. */
export interface Answers {
  /** The kept answer of a key, or what `run` gives; `run` is called once for all who wait. */
  get(key: string, run: () => Promise<CheckAnswer>): Promise<KeptAnswer>;
  /** The kept answer, if it is at hand. */
  peek(key: string): KeptAnswer | undefined;
  /** Whether an answer is still to be served. */
  isFresh(kept: KeptAnswer): boolean;
  /** Whole seconds since an answer was given. */
  age(kept: KeptAnswer): number;
}

const MOST_ANSWERS = 5_000;
/** Characters of all answers together: their data as JSON, and as much again for each form it was asked in. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** Keeps what was answered; failures are told to those who wait and forgotten. */
export function createAnswers(clock: Clock): Answers {
  const kept = new LRUCache<string, KeptAnswer>({
    max: MOST_ANSWERS,
    maxSize: MOST_CHARACTERS,
    ttl: CACHE_SECONDS * 1_000,
    perf: { now: () => clock.monotonic() },
  });
  const running = new Map<string, Promise<KeptAnswer>>();
  return {
    peek: (key) => kept.get(key),
    get(key, run) {
      const known = kept.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const under = running.get(key);
      if (under !== undefined) return under;
      const started = run().then((answer): KeptAnswer => {
        const made: KeptAnswer = { answer, at: clock.monotonic(), bodies: new Map() };
        if (isKept(answer)) kept.set(key, made, { size: sizeOf(answer) });
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

function isKept(answer: CheckAnswer): boolean {
  return answer.kind === "single" && answer.outcome.status === "ok";
}

function sizeOf(answer: CheckAnswer): number {
  return 2 * JSON.stringify(answer).length;
}
