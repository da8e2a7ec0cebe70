import { expect, it } from "vitest";
import { createAdvertiseWatch } from "#control-plane/checks/probes/presence/presence.ts";

const [one, two, three] = [
  { id: "1", address: "one.example:50051" },
  { id: "2", address: "" },
  { id: "3", address: "" },
];

it("the watch names replicas without an address if there are several, and reports each change once", () => {
  const watch = createAdvertiseWatch(5_000);
  expect(watch.update([two], 0)).toBe(null);
  expect(watch.update([one, two], 1_000)).toBe(null);
  expect(watch.missing()).toEqual([]);
  expect(watch.update([one, two], 6_000)).toBe("incomplete");
  expect(watch.update([one, two], 8_000)).toBe(null);
  expect(watch.missing()).toEqual(["2"]);
  watch.update([one, two, three], 9_000);
  expect(watch.update([one, two, three], 14_000)).toBe("incomplete");
  expect(watch.missing()).toEqual(["2", "3"]);
  expect(watch.update([one, { ...two, address: "two.example:50051" }], 15_000)).toBe("complete");
  expect(watch.missing()).toEqual([]);
});

it("the watch counts a replica that was killed and restarted as one", () => {
  const watch = createAdvertiseWatch(5_000);
  expect(watch.update([two, three], 0)).toBe(null);
  expect(watch.update([two, three], 4_900)).toBe(null);
  expect(watch.update([three], 5_000)).toBe(null);
  expect(watch.missing()).toEqual([]);
});
