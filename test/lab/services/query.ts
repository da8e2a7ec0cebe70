// Program that runs statements on the lab's database from inside of the lab. Its argument is the URL of the database. Each
// line of its standard input is a statement as JSON text; each line of its output is the answer (an Answer), in order.
import { createInterface } from "node:readline";
import postgres from "postgres";
import type { Answer } from "#test/lab/services/queries.ts";

const [url = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 1 });
const input = createInterface({ input: process.stdin });
for await (const line of input) {
  const answer = await sql.unsafe(JSON.parse(line) as string).then(
    (rows): Answer => ({ rows }),
    (error: unknown): Answer => ({ error: String(error) }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await sql.end();
