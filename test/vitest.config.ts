import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { pureTestFiles } from "./laws/pure-files.ts";
import { readSourceFiles } from "./laws/source-files.ts";
import { COMPILED_CODE } from "./support/compiled-code.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const pure = [...pureTestFiles(readSourceFiles())];

/** Suites with a configuration of their own. */
const elsewhere = ["test/lab/!(pure)/**", "test/lab/*.test.ts", "test/browser/**", "test/faults/**", "test/peers/**"];

const shared = {
  pool: "forks" as const,
  // On two cores: a third of the time files wait for time-outs of the product, not for a core.
  maxWorkers: 3,
  testTimeout: 30_000,
  hookTimeout: 60_000,
};

// Vitest runs the projects in the order of their names.
export default defineConfig({
  root,
  test: {
    projects: [
      {
        root,
        test: {
          ...shared,
          // One process per file: agents, sockets and databases of one file never meet another's.
          name: "own process",
          include: ["test/**/*.test.ts"],
          exclude: [...elsewhere, ...pure],
          globalSetup: ["test/support/database-server.ts"],
          env: COMPILED_CODE,
        },
      },
      {
        root,
        test: {
          ...shared,
          // Files that only compute share a process: modules are loaded once a worker, not once a file.
          name: "pure",
          include: pure,
          exclude: elsewhere,
          isolate: false,
          env: COMPILED_CODE,
        },
      },
    ],
  },
});
