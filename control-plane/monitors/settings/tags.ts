import { refuse, type Read } from "#shared/schema/problem.ts";

const TAG = /^[a-z0-9:_./-]{1,50}$/;

/** Reads tags: each has 1 to 50 of a-z 0-9 : _ . / -; repeated ones are dropped. */
export function readTags(given: readonly string[]): Read<readonly string[]> {
  const wrong = given.findIndex((tag) => !TAG.test(tag));
  if (wrong >= 0) return refuse(`tags.${wrong}`, "type", "must be 1 to 50 of the characters a-z 0-9 : _ . / -");
  return { ok: true, value: [...new Set(given)] };
}
