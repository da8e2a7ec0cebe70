import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LAB_FILES } from "../gate/lab-files.ts";
import { gateReporters } from "../gate/report.ts";
import { COMPILED_CODE } from "../support/compiled-code.ts";
import { PATIENCE } from "../support/patience.ts";
import { workers } from "../support/workers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Files that only query servers. */
const SERVICES = [
  "test/lab/{differential-*,dns-*,grafana,http-tools,prometheus,promtool,propagation-*,smtp-*,tls-*,whois-*,wrong-clock}.test.ts",
];

/** Files that compare times with a table or with other programs: one at a time, so that nothing else takes a core. */
const TIMES = ["test/lab/{lab,ping-accuracy,ping-table,trace-pace}.test.ts"];

/** LAB=short leaves out all files but those of the gate. */
const left = readdirSync(import.meta.dirname)
  .map((name) => `test/lab/${name}`)
  .filter((path) => process.env["LAB"] === "short" && path.endsWith(".test.ts") && !Object.hasOwn(LAB_FILES, path));

const shared = {
  globalSetup: ["test/support/database-server.ts"],
  pool: "forks" as const,
  env: COMPILED_CODE,
  ...PATIENCE,
};

// What needs network namespaces. Vitest reads the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    ...gateReporters(),
    projects: [
      {
        root,
        test: {
          ...shared,
          name: "services",
          include: SERVICES,
          exclude: left,
          maxWorkers: workers(2),
          sequence: { groupOrder: 0 },
        },
      },
      {
        root,
        test: {
          ...shared,
          name: "packets",
          include: ["test/lab/**/*.test.ts"],
          // test/lab/pure needs no lab: it is part of npm test.
          exclude: [...SERVICES, ...TIMES, ...left, "test/lab/pure/**"],
          // Mostly waits: traces are paced to one probe a second. Each lab has network namespaces of its own, so no
          // file uses up another's limit on ICMP errors (net.ipv4.icmp_msgs_per_sec).
          maxWorkers: workers(3),
          sequence: { groupOrder: 1 },
        },
      },
      {
        root,
        test: {
          ...shared,
          name: "times",
          include: TIMES,
          exclude: left,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
