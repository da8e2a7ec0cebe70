import type { ServerHelloSeen } from "#probe-agent/port/tls.ts";
import type { Answer } from "#probe-agent/tools/ssl/prober.ts";

/** What a server took of a list, one by one, in the order it chose them. */
export interface Elimination {
  readonly taken: readonly number[];
  /** The server refused what was left; else it fell silent or answered with something nobody offered. */
  readonly complete: boolean;
  /** It refused by ending the connection, as servers also do that have enough of us. */
  readonly abrupt: boolean;
}

/** How to ask for the choice among what is left, and what the choice is; null where the answer holds none of the kind. */
interface Question {
  readonly ask: (left: readonly number[]) => Promise<Answer>;
  readonly choice: (hello: ServerHelloSeen) => number | null;
}

/**
 * Offers all of a list, takes out what was chosen and asks again, until refused. A silence or an end without a word is
 * asked about once more.
 */
export async function eliminate(list: readonly number[], { ask, choice }: Question): Promise<Elimination> {
  const taken: number[] = [];
  let left = [...list];
  while (left.length > 0) {
    const answer = await ask(left);
    const sure = isClear(answer) ? answer : await ask(left);
    if (sure.kind === "silent") return { taken, complete: false, abrupt: false };
    if (sure.kind === "refused") return { taken, complete: true, abrupt: sure.alert === null };
    const chosen = choice(sure.hello);
    if (chosen === null) return { taken, complete: true, abrupt: false };
    if (!left.includes(chosen)) return { taken, complete: false, abrupt: false };
    taken.push(chosen);
    left = left.filter((code) => code !== chosen);
  }
  return { taken, complete: true, abrupt: false };
}

/** Whether an answer settles the question: not a silence, nor a connection ended without an alert. */
export function isClear(answer: Answer): boolean {
  return answer.kind === "hello" || (answer.kind === "refused" && answer.alert !== null);
}

/** Several eliminations of one server as one. */
export function joined(parts: readonly Elimination[]): Elimination {
  return {
    taken: parts.flatMap(({ taken }) => taken),
    complete: parts.every(({ complete }) => complete),
    abrupt: parts.some(({ abrupt }) => abrupt),
  };
}
