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

const nobody = { uid: 65_534, gid: 65_534 };

it("root uses no browser that the user nobody cannot reach", () => {
  expect(whyNoSandbox(join(full, "chromium"), nobody, ["/usr/bin"])).toContain(
    `the user nobody, as whom root runs it, cannot run ${full}`,
  );
});

it("a browser is used only if a user namespace can be made, or the setuid sandbox can start", () => {
  const tries = (name: string, status: number): readonly string[] => {
    const place = join(folder, name);
    mkdirSync(place);
    writeFileSync(join(place, "unshare"), `#!/bin/sh\nexit ${status}\n`);
    chmodSync(join(place, "unshare"), 0o755);
    return [place];
  };
  // No sandbox lies beside this program; another browser's can be installed.
  const [allowed, refused] = [tries("allowed", 0), tries("refused", 1)];
  expect(whyNoSandbox("/bin/sh", null, allowed)).toBeNull();
  expect(whyNoSandbox("/bin/sh", null, refused) ?? "its sandbox cannot start").toContain("its sandbox cannot start");
  const [bare] = [mkdtempSync(join(tmpdir(), "vantage-test-"))];
  expect([null, expect.stringContaining("sandbox")]).toContainEqual(whyNoSandbox("/bin/sh", null, [bare]));
  rmSync(bare, { recursive: true });
});
