import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quoted } from "#shared/text/quoted.ts";
import { SHELLS } from "#shared/client/commands/completion.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "completion-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const hasShell = (name: string) => spawnSync(name, ["-c", "exit 0"]).status === 0;

/** Returns what a shell prints for a script. */
function runIn(shell: string, script: string): string {
  // In a file: one argument holds 128 kB at most.
  const file = join(folder, `script.${shell}`);
  writeFileSync(file, script);
  const ran = spawnSync(shell, [file], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  expect(ran.stderr).toBe("");
  return ran.stdout;
}

async function scriptFor(shell: string): Promise<string> {
  const { said, status } = await runVantage(["completion", shell], {});
  expect(status).toBe(0);
  return said;
}

for (const shell of SHELLS) if (!hasShell(shell)) console.warn(`skipped: ${shell} is not installed (Debian package)`);

describe.skipIf(!hasShell("bash"))("bash", () => {
  /** Returns the completions of the last word. */
  async function complete(...words: readonly string[]): Promise<readonly string[]> {
    const typed = ["vantage", ...words].map(quoted).join(" ");
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _vantage; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return runIn("bash", `${await scriptFor("bash")}\n${ask}`)
      .split("\n")
      .filter((word) => word !== "");
  }

  it("completes commands, and tools among them", async () => {
    expect(await complete("mon")).toEqual(["monitors"]);
    expect(await complete("trace")).toEqual(["traceroute"]);
    expect(await complete("monitors", "")).toEqual(
      expect.arrayContaining(["list", "show", "create", "edit", "delete", "help", "--help"]),
    );
    expect(await complete("heartbeat", "r")).toEqual(["run"]);
  });

  it("completes options, also behind other words and options", async () => {
    expect(await complete("monitors", "list", "--st")).toEqual(["--status"]);
    expect(await complete("monitors", "--help", "list", "--limit", "5", "--wa")).toEqual(["--watch"]);
    expect(await complete("api", "v4/monitors", "--pag")).toEqual(["--paginate"]);
  });

  it("completes the values of options and arguments that have choices, and files where any value is allowed", async () => {
    expect(await complete("monitors", "list", "--status", "")).toEqual(["up", "down", "unknown"]);
    expect(await complete("incidents", "list", "--status", "re")).toEqual(["resolved"]);
    expect(await complete("completion", "")).toEqual(expect.arrayContaining([...SHELLS]));
    expect(await complete("monitors", "create", "--file", "")).toEqual([]);
    expect(await complete("heartbeat", "run", "--", "mon")).toEqual([]);
  });

  it("takes a word for a command only where it is one", async () => {
    expect(await complete("whois", "monitors", "li")).toEqual([]);
    expect(await complete("nonsense", "mon")).toEqual(["monitors"]);
  });
});

it.skipIf(!hasShell("zsh"))("zsh reads its script", async () => {
  const script = await scriptFor("zsh");
  expect(runIn("zsh", `autoload -U compinit; compinit -D; ${script}\nwhence -w _vantage`)).toBe("_vantage: function\n");
});

it.skipIf(!hasShell("fish"))("fish completes commands, options and values", async () => {
  const script = await scriptFor("fish");
  const complete = (line: string) =>
    runIn("fish", `${script}\ncomplete -C ${quoted(line)}`)
      .trim()
      .split("\n")
      .map((one) => one.split("\t")[0]);
  expect(complete("vantage mon")).toEqual(["monitors"]);
  expect(complete("vantage monitors list --st")).toEqual(["--status"]);
  const states = new Set(complete("vantage monitors list --status "));
  expect(states).toEqual(new Set(["up", "down", "unknown"]));
});

it("scripts have every command, and no text of a description can be code", async () => {
  for (const shell of SHELLS) {
    const script = await scriptFor(shell);
    for (const name of ["monitors", "http-status", "verify-audit", "whoami"]) expect(script, shell).toContain(name);
    expect(script, shell).not.toContain("`");
  }
});

it("another shell is a wrong command line", async () => {
  const ran = await runVantage(["completion", "csh"], {});
  expect(ran.said).toBe("");
  expect(ran.complained).toContain("Allowed choices are bash, zsh, fish.");
});

it("the help of every command fits 80 columns", async () => {
  const script = await scriptFor("fish");
  const paths = new Set(Array.from(script.matchAll(/__vantage_at '([ a-z0-9-]*)'/g), ([, path = ""]) => path));
  expect(paths.size).toBeGreaterThan(80);
  for (const path of paths) {
    const words = path.split(" ").filter((word) => word !== "");
    const { said } = await runVantage([...words, "--help"], {});
    expect(said, path).toMatch(/^Usage: /);
    // A single word, such as a URL, is not broken.
    const tooLong = said.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "));
    expect(tooLong, path).toEqual([]);
  }
});
