import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ELSEWHERE, LAB_FILES } from "#test/gate/lab-files.ts";
import { SLOW_FILES } from "#test/gate/slow-files.ts";
import { FULL, GATE } from "#test/gate/stages.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Files of the agent's port that are shapes and not instruments. */
const SHAPES = new Set(["address", "job-limits"]);

it("the gate's part of the lab uses every instrument of an agent", () => {
  const instruments = readdirSync(join(ROOT, "probe-agent/port"))
    .map((name) => name.replace(".ts", ""))
    .filter((name) => !SHAPES.has(name));
  const used = new Set([...Object.values(LAB_FILES).flat(), ...Object.keys(ELSEWHERE)]);
  expect([...used].toSorted()).toEqual(instruments.toSorted());
});

it("the lists name files that are there", () => {
  const listed = [...Object.keys(LAB_FILES), ...Object.values(ELSEWHERE), ...SLOW_FILES];
  expect(listed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it("every stage of the gate is a stage of the whole too", () => {
  for (const { name, config } of GATE) expect(FULL.find((stage) => stage.name === name)?.config).toBe(config);
});
