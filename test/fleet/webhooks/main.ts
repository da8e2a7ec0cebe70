// Disturbs the delivery of webhooks, and checks what is left behind:
// `node test/fleet/webhooks/main.ts --seed 1 --rounds 200`; `--only "kill after send"` repeats one fault.
import { parseArgs } from "node:util";
import { runRounds } from "#test/fleet/webhooks/run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "200" },
    only: { type: "string" },
  },
});
const { examples, ...counts } = await runRounds({
  seed: Number(values.seed),
  rounds: Number(values.rounds),
  ...(values.only === undefined ? {} : { only: values.only.split(",") }),
  log: (line) => console.error(line),
});
console.log(JSON.stringify({ seed: values.seed, rounds: values.rounds, ...counts }, null, 2));
for (const example of examples) console.log(example);
// The run has ended everything. What a client library still waits for does not matter.
process.exit(examples.length === 0 ? 0 : 1);
