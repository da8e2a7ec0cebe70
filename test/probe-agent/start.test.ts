import { expect, it } from "vitest";
import { canRun, loadImplementation } from "#probe-agent/implementations.ts";
import { wakeIcmp } from "#probe-agent/tools/implement.ts";
import { readSourceFiles } from "#test/laws/source-files.ts";

const files = new Map(readSourceFiles().map((file) => [file.path, file]));

/** Returns the files that an entry loads before it runs: not those of `import()`, nor of types. */
function loadedBy(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found;
  found.add(entry);
  const { text = "" } = files.get(entry) ?? {};
  for (const [, path = ""] of text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;"]*\sfrom\s)?"#([^"]+)"/gm)) {
    loadedBy(path, found);
  }
  return found;
}

it("an agent starts without the code of its jobs, which takes 40 MB", () => {
  const loaded = [...loadedBy("probe-agent/main.ts")];
  expect(loaded).toContain("probe-agent/attachment/job-pool.ts");
  const ofJobs =
    /^(?:probe-agent\/(?:exporter|monitor-checks|net\/create|net\/http|threads|tools)|shared\/(?:blackbox|tools))\b/;
  expect(loaded.filter((path) => ofJobs.test(path))).toEqual([
    "probe-agent/monitor-checks/list.ts",
    "shared/tools/names.ts",
  ]);
});

it.each(["ping", "traceroute", "monitor-ping", "monitor-port"])(
  "%s wakes the ICMP process before its clock starts",
  async (name) => {
    expect((await loadImplementation(name))?.prepare).toBe(wakeIcmp);
  },
);

it.each(["no-such-tool", "monitor-none", "constructor"])("there is no %s to load", async (name) => {
  expect(canRun(name)).toBe(false);
  expect(await loadImplementation(name)).toBeUndefined();
});
