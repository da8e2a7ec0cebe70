import { describe, expect, it } from "vitest";
import { pureTestFiles } from "#test/laws/pure-files.ts";
import { sharingTestFiles, whyAlone } from "#test/laws/sharing-files.ts";
import { parseSourceFile, readSourceFiles } from "#test/laws/source-files.ts";

/** What keeps a test file of this text in a process of its own. */
const why = (text: string) => whyAlone(parseSourceFile("test/a.test.ts", text));

describe("a test file follows others in their process", () => {
  it.each([
    ["opens a socket", `import { createServer } from "node:net";`],
    ["starts a process with its own environment", `spawn("a", [], { env: { PATH: process.env["PATH"] } });`],
    ["signals another process", `process.kill(pid, "SIGKILL");`],
    ["sets the time limits of its tests", "vi.setConfig({ testTimeout: 60_000 });"],
    ["compares the environment", `if (process.env["A"] === "b") run();`],
  ])("where it %s", (_what, text) => {
    expect(why(`${text}\n`)).toBeNull();
  });

  it.each([
    ["replaces the clock", "vi.useFakeTimers();"],
    ["replaces a method", `vi.spyOn(Buffer, "concat");`],
    ["changes the environment", `process.env["A"] = "b";`],
    ["removes from the environment", `delete process.env["A"];`],
    ["changes the directory", `process.chdir("/");`],
    ["listens to the process", `process.on("warning", listen);`],
    ["changes a global", "globalThis.fetch = other;"],
    ["changes a default", "setDefaultAutoSelectFamily(false);"],
    ["loads a module by a computed name", "await import(name);"],
    ["replaces the name servers", "dns.setServers([address]);"],
    ["measures the memory", "process.memoryUsage().rss;"],
    ["counts the open resources", "process.getActiveResourcesInfo();"],
  ])("but not where it %s", (_what, text) => {
    expect(why(`${text}\n`)).not.toBeNull();
  });

  it("but not where a file of the tests that it loads does so", () => {
    const files = [
      parseSourceFile("test/a.test.ts", `import { b } from "#test/support/b.ts";\n`),
      parseSourceFile("test/d.test.ts", `import type { b } from "#test/support/b.ts";\n`),
      parseSourceFile("test/e.test.ts", `import { f } from "#shared/f.ts";\n`),
      parseSourceFile("test/support/b.ts", `import { c } from "./c.ts";\nexport const b = c;\n`),
      parseSourceFile("test/support/c.ts", "export const c = () => vi.useFakeTimers();\n"),
      parseSourceFile("shared/f.ts", "export const f = 1;\n"),
    ];
    expect(sharingTestFiles(files)).toEqual(["test/d.test.ts", "test/e.test.ts"]);
  });
});

it("every pure test file may share a process", () => {
  const files = readSourceFiles();
  const sharing = new Set(sharingTestFiles(files));
  expect(pureTestFiles(files).filter((path) => !sharing.has(path))).toEqual([]);
});
