// Checks the expressions of the product that are not in verified.json, with --all every one anew, and keeps the digests
// of those that are linear there. Exits with 1 where one is not. --all takes minutes.
import { availableParallelism } from "node:os";
import { digestOf, faultOf } from "#test/laws/expressions/check.ts";
import { gatherExpressions } from "#test/laws/expressions/gather.ts";
import { readVerified, writeVerified } from "#test/laws/expressions/verified.ts";

const { expressions } = await gatherExpressions();
const distinct = new Map(expressions.map((one) => [digestOf(one), one]));
const verified = process.argv.includes("--all") ? new Set<string>() : readVerified();
const waiting = [...distinct].filter(([digest]) => !verified.has(digest));
const linear = [...distinct.keys()].filter((digest) => verified.has(digest));
const count = waiting.length;
let faults = 0;

async function work(): Promise<void> {
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [digest, expression] = next;
    const fault = await faultOf(expression);
    if (fault === null) linear.push(digest);
    else {
      faults += 1;
      process.stdout.write(`${expression.place} /${expression.source}/${expression.flags}: ${fault}\n`);
    }
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: availableParallelism() }, work));
writeVerified(linear);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
process.stdout.write(
  `${count} of ${distinct.size} expressions checked in ${seconds} s, ${faults} of them not linear\n`,
);
process.exitCode = faults === 0 ? 0 : 1;
