import type { Answer } from "#test/support/control-plane.ts";

/** More than one new minute would have to begin within a trial each time. */
const MOST_TRIALS = 5;

/**
 * Runs a trial that counts requests against a limit of each minute of the clock, and runs it again, with a fresh key, if
 * a new minute began between its first request and its last: then they had two limits. The answers themselves say to
 * which minute they belong (X-RateLimit-Reset).
 */
export async function inOneMinute<Answers extends readonly Answer[]>(trial: () => Promise<Answers>): Promise<Answers> {
  for (let trials = 1; trials <= MOST_TRIALS; trials += 1) {
    const answers = await trial();
    const minutes = new Set(answers.map(({ headers }) => headers.get("x-ratelimit-reset")));
    if (minutes.has(null)) throw new Error("an answer does not say to which minute it belongs");
    if (minutes.size === 1) return answers;
  }
  throw new Error(`${MOST_TRIALS} trials in a row lasted over the end of a minute`);
}
