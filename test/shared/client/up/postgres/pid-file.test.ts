import { expect, test } from "vitest";
import { parsePidFile } from "#shared/client/up/postgres/pid-file.ts";

test("a postmaster.pid is ready if its eighth line says so", () => {
  const lines = ["4242", "/data", "1700000000", "54321", "", "127.0.0.1", "  123 456", "ready   "];
  expect(parsePidFile(`${lines.join("\n")}\n`)).toEqual({ pid: 4_242, port: 54_321, ready: true });
  expect(parsePidFile(`${lines.with(7, "starting").join("\n")}\n`)).toMatchObject({ ready: false });
});

test.each(["", "4242\n", "4242\n/data\n1\n", "-1\n/d\n1\n5432\n", "x\n/d\n1\n5432\n"])(
  "an incomplete one (%j) is rejected",
  (text) => {
    expect(parsePidFile(text)).toBeNull();
  },
);
