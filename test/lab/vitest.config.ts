import { defineConfig } from "vitest/config";

// What needs network namespaces. One file at a time: routers share the kernel's error limits and the machine's two cores.
// Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  test: {
    include: ["test/lab/**/*.test.ts"],
    // Needs nothing: part of npm test.
    exclude: ["test/lab/pure/**"],
    globalSetup: ["test/support/database-server.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
