// Disturbs the watching of monitors, and checks what it left behind. `node test/fleet/monitors/main.ts` lists the
// scenarios; `node test/fleet/monitors/main.ts kills --seed 1 --seconds 300 --monitors 1500 --interval 60` runs one.
import { parseArgs } from "node:util";
import { SCENARIOS } from "#test/fleet/monitors/scenarios.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    seconds: { type: "string" },
    monitors: { type: "string" },
    interval: { type: "string" },
  },
});
const [name = ""] = positionals;
const scenario = SCENARIOS[name];
if (scenario === undefined) {
  for (const [known, { summary }] of Object.entries(SCENARIOS)) console.log(`${known}: ${summary}`);
  process.exitCode = name === "" ? 0 : 2;
} else {
  const { size } = scenario;
  const { verdict, figures } = await scenario.run({
    seed: Number(values.seed),
    seconds: Number(values.seconds ?? size.seconds),
    monitors: Number(values.monitors ?? size.monitors),
    intervalSeconds: Number(values.interval ?? size.intervalSeconds),
  });
  const { examples, ...counts } = verdict;
  console.log(JSON.stringify({ name, seed: values.seed, ...counts, figures }, null, 2));
  for (const example of examples) console.log(example);
  // The scenario has ended everything. What a client library still waits for does not matter.
  process.exit(examples.length === 0 ? 0 : 1);
}
