import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { COMPILED_CODE } from "../support/compiled-code.ts";

/** What asks servers alone: two files at once, each in a lab of its own. */
const SERVICES = [
  "test/lab/{differential-*,dns-*,http-tools,prometheus,promtool,propagation-*,smtp-*,tls-*,whois-*,wrong-clock}.test.ts",
];

const shared = {
  globalSetup: ["test/support/database-server.ts"],
  pool: "forks" as const,
  env: COMPILED_CODE,
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

// What needs network namespaces. Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    projects: [
      {
        root: fileURLToPath(new URL("../..", import.meta.url)),
        test: { ...shared, name: "services", include: SERVICES, maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        root: fileURLToPath(new URL("../..", import.meta.url)),
        test: {
          ...shared,
          name: "packets",
          include: ["test/lab/**/*.test.ts"],
          // test/lab/pure needs nothing: part of npm test.
          exclude: [...SERVICES, "test/lab/pure/**"],
          // One file at a time: routers share the kernel's error limits and the machine's two cores.
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
