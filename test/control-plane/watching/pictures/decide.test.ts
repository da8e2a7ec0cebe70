import { expect, it } from "vitest";
import { decideAnnouncing, decideComparing, type KnownPictures } from "#control-plane/watching/pictures/decide.ts";

const KNOWN: KnownPictures = {
  acceptedId: 1,
  acceptedSha256: "a",
  latestSha256: "b",
  latestRatio: 3,
  differenceId: 9,
  compared: "[1,[]]",
  announcedId: null,
  announcedSha256: null,
};

it("a picture is compared only if its difference is not known", () => {
  expect(decideComparing({ ...KNOWN, acceptedId: null }, "x", "[null,[]]")).toEqual({ kind: "first" });
  expect(decideComparing(KNOWN, "a", "[1,[]]")).toEqual({ kind: "same" });
  expect(decideComparing(KNOWN, "b", "[1,[]]")).toEqual({ kind: "known", ratio: 3, differenceId: 9 });
  expect(decideComparing(KNOWN, "b", "[1,[{}]]")).toEqual({ kind: "compare" });
  expect(decideComparing(KNOWN, "c", "[1,[]]")).toEqual({ kind: "compare" });
});

it("a change is announced once, and again when the page looks different from what was announced", () => {
  const picture = { sha256: "b", ratio: 3, threshold: 0.1 };
  expect(decideAnnouncing(KNOWN, { ...picture, ratio: 0.1 })).toBe("within");
  expect(decideAnnouncing(KNOWN, picture)).toBe("announce");
  const announced = { announcedId: 2, announcedSha256: "b" };
  expect(decideAnnouncing(announced, picture)).toBe("announced");
  expect(decideAnnouncing(announced, { ...picture, sha256: "c" })).toBe("compare");
  expect(decideAnnouncing(announced, { ...picture, ratio: 0 })).toBe("within");
});
