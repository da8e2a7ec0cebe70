/**
 * The limits of every suite, in milliseconds: far above what a test needs on a machine that has half a core to give, so
 * that only a test that hangs meets them. A shorter limit of a single test fails it for the machine's sake.
 */
export const PATIENCE = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // Below the limit of a test, so that its failure says what was awaited and what was seen last.
  expect: { poll: { timeout: 240_000 } },
};
