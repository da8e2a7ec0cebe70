import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** This file spells out what it forbids. */
const SELF = "test/laws/commands.test.ts";
const COMMANDS = [
  "up",
  "control-plane",
  "agent",
  "migrate",
  "doctor",
  "keys",
  "accounts",
  "probes",
  "login",
  "logout",
  "whoami",
  "api",
  "heartbeat",
  "monitors",
  "incidents",
  "maintenance",
  "webhooks",
  "events",
  "measurements",
  "completion",
  "export",
  "apply",
  "import",
  "listen",
  "verify-audit",
];

/** What is not of the repository. */
const NOT_OURS = new Set(["node_modules", ".git", ".vantage", "package-lock.json"]);

/** All text files of the repository: code, documents and scripts. */
function* readTexts(folder: string): Generator<{ readonly path: string; readonly lines: readonly string[] }> {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (NOT_OURS.has(entry.name) || path === SELF) continue;
    if (entry.isDirectory()) yield* readTexts(path);
    else if (entry.isFile()) yield { path, lines: readFileSync(join(ROOT, path), "utf8").split("\n") };
  }
}

const texts = [...readTexts("")];

function linesWith(pattern: RegExp): string[] {
  return texts.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

it("no line runs a program that a package registry would choose", () => {
  // Each of these downloads what is not installed here and runs it.
  expect(linesWith(/\b(npx|npm (exec|x)|pnpm dlx|pnpx|yarn dlx|bunx)\s+-{0,2}[@\w]/)).toEqual([]);
});

it("the command is always named with its path, as it is typed in a clone", () => {
  const names = [...COMMANDS, ...CONTRACTS.map(({ name }) => name)].join("|");
  // A quoted or fenced command; "vantage agent: ..." is how a process signs its last line.
  expect(linesWith(new RegExp(`(^|\`|\\$ |\\b(run|with|by) )vantage (${names})\\b(?!:)`))).toEqual([]);
  const guide = texts.find(({ path }) => path === "deploy/README.md")?.lines.join("\n") ?? "";
  expect(guide).toContain(`${LAUNCHER} probes token`);
});

it("the package has a name that no registry takes from anybody", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { name: string; private?: boolean };
  expect(manifest.private).toBe(true);
  // npm's own rule (validate-npm-package-name): names of new packages have no capital letters, scopes included.
  expect(manifest.name).toMatch(/^@[a-z]*[A-Z][A-Za-z]*\/[a-z-]+$/);
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as { name: string };
  expect(lock.name).toBe(manifest.name);
});
