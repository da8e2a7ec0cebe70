import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { gateReporters } from "../gate/report.ts";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { PATIENCE } from "../support/patience.ts";

// Tests that need Chromium. Two files at a time: a test that loads a page waits for it most of its time, and none measures
// more than that one thing is slower than another.
// Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    ...gateReporters(),
    include: ["test/browser/**/*.test.ts"],
    globalSetup: ["test/support/database-server.ts"],
    pool: "forks",
    env: COMPILED_CODE,
    maxWorkers: 2,
    ...PATIENCE,
  },
});
