// Checks the regular expressions that the newest commits add, as the law does; with --all every one of the product, which
// takes minutes. Exits with 1 where one is not linear.
import { availableParallelism } from "node:os";
import { addedExpressions } from "#test/laws/expressions/added.ts";
import { faultOf } from "#test/laws/expressions/check.ts";
import { gatherExpressions } from "#test/laws/expressions/gather.ts";
import { keyOf } from "#test/laws/expressions/parse.ts";

const gathered = await gatherExpressions();
const distinct = [...new Map(gathered.expressions.map((one) => [keyOf(one), one])).values()];
const waiting = [...((process.argv.includes("--all") ? null : addedExpressions(gathered)) ?? distinct)];
const count = waiting.length;
let faults = 0;

async function work(): Promise<void> {
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const fault = await faultOf(next);
    if (fault === null) continue;
    faults += 1;
    process.stdout.write(`${next.place} /${next.source}/${next.flags}: ${fault}\n`);
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: availableParallelism() }, work));
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
process.stdout.write(
  `${count} of ${distinct.length} expressions checked in ${seconds} s, ${faults} of them not linear\n`,
);
process.exitCode = faults === 0 ? 0 : 1;
