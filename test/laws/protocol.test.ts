import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";

const hasProtoc = spawnSync("protoc", ["--version"]).status === 0;
if (!hasProtoc) console.log("skipped: protoc is not installed, so the generated protocol cannot be compared");

/** The generator's header names protoc's version, which may differ between machines. */
function withoutHeader(text: string): string {
  return text.replace(/^\/\/\s+protoc .*$/m, "");
}

it.skipIf(!hasProtoc)("the committed protocol is what proto/probe.proto generates", () => {
  const out = mkdtempSync(join(tmpdir(), "vantage-protocol-"));
  try {
    execFileSync("sh", [join(ROOT, "deploy/generate-protocol.sh"), out]);
    const generated = readFileSync(join(out, "probe.ts"), "utf8");
    const committed = readFileSync(join(ROOT, "shared/protocol/probe.ts"), "utf8");
    expect(withoutHeader(generated)).toBe(withoutHeader(committed));
  } finally {
    rmSync(out, { recursive: true });
  }
});
