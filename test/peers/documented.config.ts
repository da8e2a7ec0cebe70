import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { gateReporters } from "../gate/report.ts";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { PATIENCE } from "../support/patience.ts";
import { workers } from "../support/workers.ts";

// The end-to-end tests once more, their calls of documented paths through `prism proxy --errors`: an answer that is not
// as the OpenAPI document says becomes an error of the proxy, and the test fails.
// Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    ...gateReporters(),
    include: ["test/e2e/*.test.ts"],
    // These test the connection itself, or many processes without a proxy in front of them.
    exclude: ["test/e2e/*killed*.test.ts", "test/e2e/replicas.test.ts", "test/e2e/lost-agents.test.ts"],
    env: { ...COMPILED_CODE, TEST_THROUGH: "prism" },
    globalSetup: ["test/support/database-server.ts"],
    pool: "forks",
    maxWorkers: workers(2),
    ...PATIENCE,
  },
});
