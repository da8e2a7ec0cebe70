import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPeer } from "#test/peers/run-peer.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
const folder = mkdtempSync(join(tmpdir(), "vantage-openapi-"));
const file = join(folder, "openapi.json");
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

beforeAll(async () => {
  plane = await startControlPlane();
  writeFileSync(file, (await plane.call("/openapi.json")).text);
});
afterAll(async () => {
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the OpenAPI document", () => {
  it("passes spectral's rules", async () => {
    const { status, output } = await runPeer("spectral", [
      "lint",
      file,
      "--ruleset",
      here("spectral.yml"),
      "--fail-severity",
      "error",
    ]);
    expect(status, output).toBe(0);
  });

  it("passes redocly's recommended rules", async () => {
    const { status, output } = await runPeer("redocly", [
      "lint",
      file,
      "--config",
      here("redocly.yml"),
      "--max-problems",
      "50",
    ]);
    expect(status, output).toBe(0);
  });
});
