import { describe, expect, it } from "vitest";
import { readAsNumber } from "#shared/internet/as-number.ts";

describe("an AS number", () => {
  it.each([
    ["AS64500", 64_500],
    ["as64500", 64_500],
    ["64500", 64_500],
    ["AS0064500", 64_500],
    ["AS0", 0],
    ["0", 0],
    ["AS4294967295", 4_294_967_295],
    ["AS1.10", 65_546],
    ["as65535.65535", 4_294_967_295],
  ])("is parsed from %s", (text, asn) => {
    expect(readAsNumber(text)).toBe(asn);
  });

  it.each([
    "",
    "AS",
    "ASX",
    "AS4294967296",
    "AS99999999999",
    "1.10",
    "AS1.65536",
    "AS1.2.3",
    "AS-1",
    " AS1",
    "AS1 ",
    "１２",
  ])("is not parsed from %j", (text) => {
    expect(readAsNumber(text)).toBeNull();
  });
});
