// Checks every expression of the product anew, and keeps the digests of those that are linear in verified.json. Exits
// with 1 where one is not, or where verified.json claims one that is not. About two minutes on two idle cores.
import { availableParallelism } from "node:os";
import { digestOf, faultOf } from "#test/laws/expressions/check.ts";
import { gatherExpressions } from "#test/laws/expressions/gather.ts";
import { writeVerified } from "#test/laws/expressions/verified.ts";

const { expressions } = await gatherExpressions();
const distinct = new Map(expressions.map((one) => [digestOf(one), one]));
const waiting = [...distinct];
const linear: string[] = [];
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
process.stdout.write(`${distinct.size} expressions checked in ${seconds} s, ${faults} of them not linear\n`);
process.exitCode = faults === 0 ? 0 : 1;
