import { expect, it } from "vitest";
import { watchAdvertised } from "#control-plane/probes/presence/advertised.ts";

const [one, two, three] = [
  { id: "1", address: "one.example:50051" },
  { id: "2", address: "" },
  { id: "3", address: "" },
];

it("names replicas without an address once there are several, and says each change once", () => {
  const watch = watchAdvertised(5_000);
  expect(watch.look([two], 0)).toBe(null);
  expect(watch.look([one, two], 1_000)).toBe(null);
  expect(watch.missing()).toEqual([]);
  expect(watch.look([one, two], 6_000)).toBe("incomplete");
  expect(watch.look([one, two], 8_000)).toBe(null);
  expect(watch.missing()).toEqual(["2"]);
  watch.look([one, two, three], 9_000);
  expect(watch.look([one, two, three], 14_000)).toBe("incomplete");
  expect(watch.missing()).toEqual(["2", "3"]);
  expect(watch.look([one, { ...two, address: "two.example:50051" }], 15_000)).toBe("complete");
  expect(watch.missing()).toEqual([]);
});

it("takes a replica that was killed and started again for one", () => {
  const watch = watchAdvertised(5_000);
  expect(watch.look([two, three], 0)).toBe(null);
  expect(watch.look([two, three], 4_900)).toBe(null);
  expect(watch.look([three], 5_000)).toBe(null);
  expect(watch.missing()).toEqual([]);
});
