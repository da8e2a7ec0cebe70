import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// One process per file: agents, sockets and databases of one file never meet another's.
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/lab/!(pure)/**", "test/lab/*.test.ts", "test/browser/**", "test/faults/**", "test/peers/**"],
    globalSetup: ["test/support/database-server.ts"],
    pool: "forks",
    // On two cores: a third of the time files wait for time-outs of the product, not for a core.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
