import { afterAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";
import { writeCommands } from "#control-plane/surfaces/dashboard/tools/result.ts";
import { openShell } from "#test/support/shell.ts";

const shell = openShell("/", {});
afterAll(() => shell.close());

const HOSTILE = [
  "plain.example",
  "it's",
  "'; touch /tmp/x; '",
  "$(id)",
  "`id`",
  "$KEY ${KEY} !! !x",
  'a"b\\c',
  "\\",
  "a\nb\n\nc",
  "tab\tspace  two",
  "=ls",
  "~root",
  "*",
  "-x",
  "--help",
  "\u202Eright",
  "a=b&c=d#e;f|g<h>i",
  "",
];

function contractOf(name: string): Contract {
  const found = CONTRACTS.find((contract) => contract.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
}

/** Returns the arguments of a command as a shell passes them. */
async function parse(line: string): Promise<readonly string[]> {
  const named = line.replace(/\bdeploy\/vantage /, "record ").replace(/^curl /, "record ");
  const { stdout, stderr } = await shell.run(`record() { printf '<%s>\\037' "$@"; }; ${named}`, { KEY: "vtg_k" });
  if (stderr !== "") throw new Error(stderr);
  return stdout
    .split("\u001f")
    .slice(0, -1)
    .map((word) => word.slice(1, -1));
}

describe("a call for a terminal", () => {
  it.each(HOSTILE)("reaches curl and the command as it was typed: %j", async (text) => {
    const call = { domain: text, selector: text, locations: text, share: "1" };
    const lines = writeCommands(contractOf("dkim"), call, "https://vantage.example");
    expect(await parse(lines?.curl ?? "")).toEqual([
      "-H",
      "X-API-Key: vtg_k",
      ...["domain", "selector", "locations"].flatMap((name) => ["--data-urlencode", `${name}=${text}`]),
      "--data-urlencode",
      "share=1",
      "https://vantage.example/api/v4/dkim",
    ]);
    const options = ["dkim", "--selector", text, "--from", text, "--share"];
    const main = text.startsWith("-") ? ["--", text] : [text];
    expect(await parse(lines?.command ?? "")).toEqual([...options, ...main]);
  });

  it("is given on standard input where the command would read a file", async () => {
    const command = writeCommands(
      contractOf("email-header"),
      { headers: "@/etc/passwd's" },
      "https://v.example",
    )?.command;
    expect(await parse(command ?? "")).toEqual(["email-header", "@-"]);
    const { stdout } = await shell.run((command ?? "").replace(/\| deploy.*/, ""));
    expect(stdout).toBe("@/etc/passwd's");
  });

  it("is left out if it has characters that a terminal obeys, or is too long", () => {
    for (const text of ["a\u001b[201~b", "a\u0000b", "a\rb", "a\u0003", "\u009b", "x".repeat(9_000)])
      expect(writeCommands(contractOf("email-header"), { headers: text }, "https://v.example")).toBeNull();
  });
});
