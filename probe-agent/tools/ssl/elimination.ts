import type { ServerHelloSeen } from "#probe-agent/port/tls.ts";
import type { Answer } from "#probe-agent/tools/ssl/prober.ts";

/** Entries of a list that a server accepts, found one by one. */
export interface Elimination {
  /** In the order in which the server chose them. */
  readonly taken: readonly number[];
  /** True if the server refused the rest. False if it stopped answering, or chose an entry that was not offered. */
  readonly complete: boolean;
  /** Whether it refused the rest by ending the connection. Servers that limit connections do the same. */
  readonly abrupt: boolean;
}

/** Functions that ask for a choice among the remaining entries. */
interface Question {
  readonly ask: (left: readonly number[]) => Promise<Answer>;
  /** Returns the server's choice, or null if the answer contains none. */
  readonly choice: (hello: ServerHelloSeen) => number | null;
}

/**
 * Offers the whole list, removes the server's choice and asks again, until the server refuses. If there is no answer or
 * the connection ends without an alert, asks once more.
 */
export async function eliminate(list: readonly number[], { ask, choice }: Question): Promise<Elimination> {
  const taken: number[] = [];
  let left = [...list];
  while (left.length > 0) {
    const answer = await ask(left);
    const final = isConclusive(answer) ? answer : await ask(left);
    if (final.kind === "silent") return { taken, complete: false, abrupt: false };
    if (final.kind === "refused") return { taken, complete: true, abrupt: final.alert === null };
    const chosen = choice(final.hello);
    if (chosen === null) return { taken, complete: true, abrupt: false };
    if (!left.includes(chosen)) return { taken, complete: false, abrupt: false };
    taken.push(chosen);
    left = left.filter((code) => code !== chosen);
  }
  return { taken, complete: true, abrupt: false };
}

/** Reports whether an answer is a ServerHello or an alert. Silence and an end without an alert are not conclusive. */
export function isConclusive(answer: Answer): boolean {
  return answer.kind === "hello" || (answer.kind === "refused" && answer.alert !== null);
}

/** Combines several eliminations of one server. */
export function joinEliminations(parts: readonly Elimination[]): Elimination {
  return {
    taken: parts.flatMap(({ taken }) => taken),
    complete: parts.every(({ complete }) => complete),
    abrupt: parts.some(({ abrupt }) => abrupt),
  };
}
