// Runs the stages of the gate, or with "full" everything: node test/gate/main.ts [full] [stage ...]
import { findMissing } from "#test/gate/capabilities.ts";
import { MOST_FLAKY } from "#test/gate/judge.ts";
import { chooseWorkers, measureFreeCores } from "#test/gate/processors.ts";
import { runStage, type StageResult } from "#test/gate/run-stage.ts";
import { FULL, GATE } from "#test/gate/stages.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { systemClock } from "#test/support/clock.ts";

const words = process.argv.slice(2);
const isFull = words[0] === "full";
const all = isFull ? FULL : GATE;
const names = isFull ? words.slice(1) : words;
const unknown = names.filter((name) => !all.some((stage) => stage.name === name));
if (unknown.length > 0) {
  console.error(`no stage ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

const missing = await findMissing();
for (const line of missing) console.error(`The gate cannot test everything here. Missing: ${line}`);
if (missing.length > 0) process.exit(1);

const results: StageResult[] = [];
for (const stage of all.filter(({ name }) => names.length === 0 || names.includes(name))) {
  // Before each stage, because the machine may have others on it.
  const freeCores = await measureFreeCores(1_000);
  const workers = chooseWorkers(freeCores);
  console.log(`\n=== ${stage.name} (${stage.words.join(" ")}; ${freeCores.toFixed(2)} cores free, ${workers} workers)`);
  const result = await runStage(stage, {
    folder: ROOT,
    workers,
    output: "inherit",
    clock: systemClock,
  });
  results.push(result);
  console.log(`=== ${stage.name} took ${result.minutes.toFixed(1)} minutes`);
  for (const why of result.closes) console.log(`=== ${stage.name} closes the gate: ${why}`);
}

const flaky = results.flatMap((result) => result.flaky);
const closes = [
  ...results.flatMap((result) => result.closes.map((why) => `${result.name}: ${why}`)),
  ...(flaky.length > MOST_FLAKY ? [`${flaky.length} flaky files, more than ${MOST_FLAKY}`] : []),
];
const sum = (of: (result: StageResult) => number): number => results.reduce((total, result) => total + of(result), 0);

console.log("\n=== minutes");
for (const { name, minutes, passed } of results) console.log(`${name} ${minutes.toFixed(1)} (${passed} tests passed)`);
console.log(`all ${sum(({ minutes }) => minutes).toFixed(1)}`);
console.log("\n=== flaky");
if (flaky.length === 0) console.log("none");
for (const { stage, path, test, message } of flaky) console.log(`${stage} | ${path} | ${test} | ${message}`);
console.log(`\n=== The gate is ${closes.length === 0 ? "open" : "closed"}`);
for (const why of closes) console.log(why);
console.log(
  `\n${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed, ${sum(({ skipped }) => skipped)} skipped`,
);
process.exitCode = closes.length === 0 ? 0 : 1;
