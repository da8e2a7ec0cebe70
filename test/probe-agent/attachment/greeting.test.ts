import { expect, it } from "vitest";
import { decideGreeting } from "#probe-agent/attachment/attach.ts";

it.each([
  ["greets a replica that no older stream leads to", "b", ["a"], 10, "greet"],
  ["turns back from a replica that an older stream leads to", "a", ["a"], 10, "turn_back"],
  ["waits while an older stream may still lead to the same replica", "a", ["b", null], 10, "wait"],
  ["waits no longer than a second for older streams", "a", ["b", null], 1_000, "greet"],
  ["turns back at once where one older stream is unknown and another leads there", "a", [null, "a"], 10, "turn_back"],
  ["greets a replica without a name, as protocol 1.0 has it", null, ["a", null], 1_000, "greet"],
] as const)("%s", (_what, named, older, sinceDialMs, decision) => {
  expect(decideGreeting(named, older, sinceDialMs)).toBe(decision);
});
