import { createInterface } from "node:readline";
import type { Network } from "#test/lab/driver.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Answer of the program query.ts. */
export type Answer = { readonly rows: readonly unknown[] } | { readonly error: string };

/** Runs a statement on the lab's database. Rejects with the database's error. */
export type Query = <T>(statement: string) => Promise<readonly T[]>;

const LIMIT_MS = 240_000;

/** Starts a program in the node `db` that runs the statements of a test, one after the other. */
export function startQueries(network: Network, databaseUrl: string): Query {
  const child = network.spawn("db", [process.execPath, `${ROOT}/test/lab/services/query.ts`, databaseUrl]);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a program of the lab has no pipes");
  const waiting: ((answer: Answer) => void)[] = [];
  createInterface({ input: stdout }).on("line", (line) => {
    waiting.shift()?.(JSON.parse(line) as Answer);
  });
  let errors = "";
  stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  stdin.on("error", () => undefined);
  child.once("exit", () => {
    for (const answer of waiting.splice(0)) answer({ error: `the program that runs statements has ended: ${errors}` });
  });
  return async <T>(statement: string) => {
    const answered = Promise.withResolvers<Answer>();
    const timer = setTimeout(() => answered.resolve({ error: `no answer within ${LIMIT_MS} ms` }), LIMIT_MS);
    waiting.push(answered.resolve);
    stdin.write(`${JSON.stringify(statement)}\n`);
    const answer = await answered.promise.finally(() => clearTimeout(timer));
    if ("error" in answer) throw new Error(answer.error);
    return answer.rows as readonly T[];
  };
}
