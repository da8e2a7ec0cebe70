// Writes shared/tools/<tool>/example.json anew: what each tool really says of a made-up shop on loopback,
// {"params", "data"}. Long lists and texts are cut as test/examples/cut.ts says; times, certificates and keys are those of
// the run. As root, because the shop listens on ports below 1024: node test/examples/update.ts [tool ...]
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CONTRACTS } from "#shared/tools/index.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { startBench } from "#test/examples/bench.ts";
import { cutToPrint, printed } from "#test/examples/cut.ts";
import { startStandIns } from "#test/support/stand-ins.ts";
import { TOOL_CALLS } from "#test/support/tool-calls.ts";

const FOLDER = new URL("../../shared/tools/", import.meta.url);

/** What a control plane adds to a job: what it saw earlier, and what its other agents hear. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "reverse-ip": {
    observations: [
      { host: "shop.test", first_seen: "2026-01-12T09:00:00.000Z", last_seen: "2026-03-03T18:20:00.000Z" },
      { host: "sale.shop.test", first_seen: "2026-02-01T07:30:00.000Z", last_seen: "2026-02-14T22:10:00.000Z" },
    ],
  },
  propagation: {
    vantages: [
      {
        region: "ap-east",
        country: "JP",
        city: "Tokyo",
        server: "198.51.100.7#53",
        status: "NOERROR",
        records: [{ type: "A", data: "127.80.0.1", ttl: 214 }],
        rtt_ms: 9.4,
        ede: [],
      },
    ],
  },
};

const asked = process.argv.slice(2);
const world = await startStandIns({ usualPorts: true });
const bench = await startBench(world);
const files: string[] = [];
try {
  for (const { name } of CONTRACTS) {
    const call = TOOL_CALLS[name];
    if (call === undefined) throw new Error(`${name} has no row in test/support/tool-calls.ts`);
    if (asked.length > 0 && !asked.includes(name)) continue;
    const params = (call.shown ?? call.good)(world);
    const outcome = await bench.run(name, params, INPUTS[name]);
    if (outcome.status !== "ok") throw new Error(`${name}: ${JSON.stringify(outcome)}`);
    const file = fileURLToPath(new URL(`${name}/example.json`, FOLDER));
    writeFileSync(file, printed({ params, data: cutToPrint(outcome.data) }));
    files.push(file);
  }
} finally {
  await bench.stop();
  await world.close();
}
execFileSync(`${ROOT}/node_modules/.bin/oxfmt`, files, { stdio: "inherit" });
process.stdout.write(`${files.length} examples written\n`);
