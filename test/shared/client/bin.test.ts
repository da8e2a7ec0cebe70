import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const BIN = fileURLToPath(new URL("../../../shared/client/vantage.mjs", import.meta.url));

/** A Node older than ours on this machine, if there is one. */
function olderNode(): string | null {
  for (const file of ["/usr/bin/node", "/usr/local/bin/node"]) {
    const ran = spawnSync(file, ["--version"], { encoding: "utf8" });
    const major = Number(/^v(\d+)/.exec(ran.stdout ?? "")?.[1]);
    if (major >= 14 && major < 24) return file;
  }
  return null;
}

test("the command runs as a program", () => {
  const help = execFileSync(process.execPath, [BIN, "--help"], { encoding: "utf8" });
  for (const name of ["up", "control-plane", "agent", "migrate", "doctor", "keys", "accounts"]) {
    expect(help).toMatch(new RegExp(`^  ${name} `, "m"));
  }
});

test("an unknown command is refused with status 1", () => {
  const ran = spawnSync(process.execPath, [BIN, "nonsense"], { encoding: "utf8" });
  expect(ran.status).toBe(1);
  expect(ran.stderr).toContain("unknown command");
});

const older = olderNode();
test.skipIf(older === null)("under an older Node the installed one takes over, status and all", () => {
  expect(execFileSync(older ?? "", [BIN, "--version"], { encoding: "utf8" })).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(spawnSync(older ?? "", [BIN, "nonsense"]).status).toBe(1);
});
