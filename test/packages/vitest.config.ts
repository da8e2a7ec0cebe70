import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { gateReporters } from "../gate/report.ts";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { PATIENCE } from "../support/patience.ts";

// Tests of the archives of a release, as npm run package makes them. Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    ...gateReporters(),
    include: ["test/packages/**/*.test.ts"],
    globalSetup: ["test/support/database-server.ts"],
    pool: "forks",
    env: COMPILED_CODE,
    fileParallelism: false,
    ...PATIENCE,
  },
});
