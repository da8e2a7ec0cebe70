import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findChromium, searchPathOf, whyNoSandbox } from "#shared/process/chromium.ts";

const folder = mkdtempSync(join(tmpdir(), "vantage-test-"));
const [empty, full] = [join(folder, "empty"), join(folder, "full")];
mkdirSync(empty);
mkdirSync(full);
for (const name of ["google-chrome", "chromium"]) {
  writeFileSync(join(full, name), "#!/bin/sh\n");
  chmodSync(join(full, name), 0o755);
}
writeFileSync(join(empty, "chromium"), "no program");
mkdirSync(join(empty, "chrome"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the browser is the first executable one of the usual names on the path", () => {
  expect(findChromium(null, [empty, full])).toBe(join(full, "chromium"));
  expect(findChromium(null, [empty])).toBeNull();
  expect(findChromium(null, [])).toBeNull();
});

it("a configured browser is used, or none", () => {
  expect(findChromium(join(full, "google-chrome"), [])).toBe(join(full, "google-chrome"));
  expect(findChromium("/nowhere/chromium", [full])).toBeNull();
  expect(findChromium(full, [full])).toBeNull();
});

it("a search path consists of its absolute directories", () => {
  expect(searchPathOf("/usr/bin:relative::/bin")).toEqual(["/usr/bin", "/bin"]);
  expect(searchPathOf(undefined)).toEqual([]);
});

it("root uses no browser that the user nobody cannot reach", () => {
  const nobody = { uid: 65_534, gid: 65_534 };
  expect(whyNoSandbox(join(full, "chromium"), nobody)).toContain(
    `the user nobody, as whom root runs it, cannot run ${full}`,
  );
  expect(whyNoSandbox(process.platform === "linux" ? "/bin/sh" : process.execPath, nobody) ?? "sandbox").toContain(
    "sandbox",
  );
});
