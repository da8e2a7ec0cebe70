import { expect } from "vitest";

/**
 * Returns what `create` has made for the running test file. A file that follows others in their process gets its own:
 * what their tests have left in it (work, suspended rules) is no part of its tests.
 */
export function perFile<T>(create: () => T): () => T {
  let made: { readonly path: string | undefined; readonly value: T } | undefined;
  return () => {
    const path = currentTestFile();
    if (made === undefined || made.path !== path) made = { path, value: create() };
    return made.value;
  };
}

/** Returns the path of the running test file; undefined in a program that a test has started, which is no test. */
function currentTestFile(): string | undefined {
  try {
    return expect.getState().testPath;
  } catch {
    return undefined;
  }
}
