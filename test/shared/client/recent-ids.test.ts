import { expect, it } from "vitest";
import { rememberIds } from "#shared/client/listen.ts";

it("the last ids are remembered, and the one that was not seen for longest is forgotten first", () => {
  const ids = rememberIds(3);
  expect(["a", "b", "c"].map((id) => ids.add(id))).toEqual([false, false, false]);
  expect(ids.add("a")).toBe(true);
  expect(ids.add("d")).toBe(false);
  expect(ids.add("a")).toBe(true);
  expect(ids.add("b")).toBe(false);
});
