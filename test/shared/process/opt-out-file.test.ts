import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openOptOutFile } from "#shared/process/opt-out-file.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-opt-out-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("without a file no target is denied", () => {
  const opened = openOptOutFile(null, () => {});
  expect(opened.ok && opened.optOut.deniesName("example.com")).toBe(false);
});

it("an invalid line or a missing file stops the start, and the line is named", () => {
  const path = join(folder, "bad");
  writeFileSync(path, "fine.example\nnot fine\n");
  expect(openOptOutFile(path, () => {})).toEqual({
    ok: false,
    line: `VANTAGE_OPT_OUT_FILE ${path}, line 2: is not a domain, an address or a range such as 192.0.2.0/24`,
  });
  expect(openOptOutFile(join(folder, "absent"), () => {})).toMatchObject({ ok: false });
});

it("a changed file takes effect within seconds, and a broken one is reported and changes nothing", async () => {
  const path = join(folder, "list");
  writeFileSync(path, "one.example\n");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const warnings: string[] = [];
  const opened = openOptOutFile(path, (line) => warnings.push(line));
  if (!opened.ok) throw new Error(opened.line);
  const { optOut } = opened;
  expect([optOut.deniesName("one.example"), optOut.deniesName("two.example")]).toEqual([true, false]);

  writeFileSync(path, "two.example\n192.0.2.1\n");
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await expect.poll(() => optOut.deniesName("two.example")).toBe(true);
  expect([optOut.deniesName("one.example"), optOut.deniesAddress("192.0.2.1")]).toEqual([false, true]);
  optOut.close();

  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const again = openOptOutFile(path, (line) => warnings.push(line));
  if (!again.ok) throw new Error(again.line);
  writeFileSync(path, "two.example\n!!!\n");
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await expect.poll(() => warnings).toHaveLength(1);
  expect(warnings[0]).toContain("line 2");
  expect(again.optOut.deniesName("two.example")).toBe(true);
  again.optOut.close();
});
