import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { gateReporters } from "./gate/report.ts";
import { SLOW_FILES } from "./gate/slow-files.ts";
import { pureTestFiles } from "./laws/pure-files.ts";
import { sharingTestFiles } from "./laws/sharing-files.ts";
import { readSourceFiles } from "./laws/source-files.ts";
import { COMPILED_CODE } from "./support/compiled-code.ts";
import { PATIENCE } from "./support/patience.ts";
import { workers } from "./support/workers.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = readSourceFiles();
const pure = [...pureTestFiles(files)];
const sharing = sharingTestFiles(files).filter((path) => !pure.includes(path));

/** Suites with a configuration of their own. */
const suites = [
  "test/lab/!(pure)/**",
  "test/lab/*.test.ts",
  "test/browser/**",
  "test/faults/**",
  "test/peers/**",
  "test/packages/**",
];
/** Slow files run where the command line names them, or with all (TEST_FILES=all, as in npm run test:full). */
const slow = SLOW_FILES.filter((path) => process.env["TEST_FILES"] !== "all" && !process.argv.includes(path));
const elsewhere = [...suites, ...slow];

/**
 * Files that keep all cores busy by themselves, or compare times: beside others they take three to eight times as long,
 * and the others miss the deadlines of the product.
 */
const alone = [
  "test/e2e/bad-input-tools.test.ts",
  "test/e2e/heartbeat-pings-killed.test.ts",
  "test/e2e/heartbeat-tokens.test.ts",
  "test/probe-agent/hostile-pages.test.ts",
  "test/probe-agent/threads/analyses.test.ts",
  "test/probe-agent/threads/tech.test.ts",
];

/**
 * Reports whether an error is the rejection that postgres.js 3.4.9 leaves behind where a client ends while its connection is
 * new, as the clients of a machine under load do. The control plane goes on after it, too (core/database/lost-connection.ts).
 */
function isLostFirstStatement(error: object): boolean {
  const { code, query } = error as { readonly code?: unknown; readonly query?: unknown };
  return code === "CONNECTION_DESTROYED" && typeof query === "string" && query.includes("pg_catalog.pg_type");
}

const shared = {
  pool: "forks" as const,
  maxWorkers: workers(4),
  ...PATIENCE,
};

// Vitest runs the projects in the order of their names: what only computes comes last and keeps every core busy to the
// end.
export default defineConfig({
  root,
  test: {
    ...gateReporters(),
    onUnhandledError: (error) => (isLostFirstStatement(error) ? false : undefined),
    projects: [
      {
        root,
        test: {
          ...shared,
          // One process per file: these replace or measure parts of their process.
          name: "own process",
          include: ["test/**/*.test.ts"],
          exclude: [...elsewhere, ...pure, ...sharing, ...alone],
          globalSetup: ["test/support/database-server.ts"],
          env: COMPILED_CODE,
        },
      },
      {
        root,
        test: {
          ...shared,
          // One process per worker, one file at a time: modules are loaded and threads started once a worker, not once
          // a file, which takes 1.7 s of CPU time.
          name: "shared process",
          include: sharing,
          exclude: [...elsewhere, ...alone],
          isolate: false,
          globalSetup: ["test/support/database-server.ts"],
          env: COMPILED_CODE,
        },
      },
      {
        root,
        test: {
          ...shared,
          // Files that only compute, apart from those that leave sockets and threads behind.
          name: "shared process, pure",
          include: pure,
          exclude: elsewhere,
          isolate: false,
          env: COMPILED_CODE,
        },
      },
      {
        root,
        test: {
          ...shared,
          name: "alone",
          include: alone,
          exclude: slow,
          // After all others, one file at a time.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          globalSetup: ["test/support/database-server.ts"],
          env: COMPILED_CODE,
        },
      },
    ],
  },
});
