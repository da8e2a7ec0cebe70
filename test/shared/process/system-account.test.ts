import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { canEnter, canUse, parseNobody } from "#shared/process/system-account.ts";

const STRANGER = { uid: 60_123, gid: 60_123 };
const parent = mkdtempSync(join(tmpdir(), "vantage-account-"));
const inner = join(parent, "inner");
mkdirSync(inner);
writeFileSync(join(inner, "file"), "");
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function modes(outside: number, inside: number, file: number): void {
  chmodSync(parent, outside);
  chmodSync(inner, inside);
  chmodSync(join(inner, "file"), file);
}

test("a directory cannot be entered if a parent is closed", () => {
  modes(0o711, 0o711, 0o755);
  expect(canEnter(inner, STRANGER)).toBe(true);
  expect(canUse(join(inner, "file"), STRANGER)).toBe(true);
  expect(canUse(inner, STRANGER)).toBe(false);
  modes(0o700, 0o711, 0o755);
  expect(canEnter(inner, STRANGER)).toBe(false);
  expect(canUse(join(inner, "file"), STRANGER)).toBe(false);
});

test("the bits of owner and group apply only to them", () => {
  modes(0o755, 0o755, 0o500);
  expect(canUse(join(inner, "file"), STRANGER)).toBe(false);
  expect(canUse(join(inner, "file"), { uid: process.getuid?.() ?? 0, gid: 1 })).toBe(true);
});

test("the account nobody is read from the passwd file, or has its usual number", () => {
  expect(parseNobody("root:x:0:0::/:/bin/sh\nnobody:x:99:98:Nobody:/:/sbin/nologin\n")).toEqual({ uid: 99, gid: 98 });
  expect(parseNobody("root:x:0:0::/:/bin/sh\n")).toEqual({ uid: 65_534, gid: 65_534 });
  expect(parseNobody("nobody:x:0:0::/:/bin/sh\n")).toEqual({ uid: 65_534, gid: 65_534 });
});
