import { describe, expect, it } from "vitest";
import { pureTestFiles, whyImpure } from "#test/laws/pure-files.ts";
import { parseSourceFile, readSourceFiles } from "#test/laws/source-files.ts";

/** What keeps a test file of this text out of a shared process. */
const why = (text: string) => whyImpure(parseSourceFile("test/a.test.ts", text));

describe("a test file shares a process", () => {
  it("where it reads files and parses addresses", () => {
    expect(why(`import { isIP } from "node:net";\nimport { readFileSync } from "node:fs";\n`)).toBeNull();
    expect(
      why(`import type { Server } from "node:http";\nimport { type Socket, isIPv4 } from "node:net";\n`),
    ).toBeNull();
  });

  it.each([
    ["opens a socket", `import { createServer } from "node:net";`],
    ["opens a socket under another name", `import { isIP, connect as dial } from "node:net";`],
    ["takes a whole module", `import * as net from "node:net";`],
    ["starts a process", `import { execFile } from "node:child_process";`],
    ["starts a thread", `import { Worker } from "node:worker_threads";`],
    ["writes files", `import { mkdtempSync } from "node:fs";`],
    ["loads a module when it runs", `await import("node:http");`],
    ["loads a module by a computed name", "await import(name);"],
    ["loads a package that nobody looked at", `import postgres from "postgres";`],
    ["asks a server", `await fetch(url);`],
    ["changes the environment", `process.env["A"] = "b";`],
    ["replaces the clock", "vi.useFakeTimers();"],
    ["changes a global", "globalThis.fetch = other;"],
  ])("but not where it %s", (_what, text) => {
    expect(why(`${text}\n`)).not.toBeNull();
  });

  it("but not where a file that it loads does so", () => {
    const files = [
      parseSourceFile("test/a.test.ts", `import { b } from "#shared/b.ts";\n`),
      parseSourceFile("test/d.test.ts", `import type { b } from "#shared/b.ts";\n`),
      parseSourceFile("shared/b.ts", `import { c } from "./c.ts";\nexport const b = c;\n`),
      parseSourceFile("shared/c.ts", `import { connect } from "node:tls";\n`),
    ];
    expect(pureTestFiles(files)).toEqual(["test/d.test.ts"]);
  });
});

it("end-to-end tests have processes of their own, and most analyses share one", () => {
  const pure = pureTestFiles(readSourceFiles());
  expect(pure.filter((path) => /^test\/(?:e2e|deploy)\//.test(path))).toEqual([]);
  expect(pure.filter((path) => /^test\/probe-agent\/(?:analysis|tools)\//.test(path)).length).toBeGreaterThan(80);
});
