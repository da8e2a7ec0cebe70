import { describe, expect, it } from "vitest";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";

const FOO_COM = "03666f6f076578616d706c6503636f6d00";
const FOO_ORG = "03666f6f076578616d706c65036f726700";
const EXAMPLE = "076578616d706c6503636f6d00";

describe("test vectors of RFC 9460 appendix D", () => {
  it.each([
    ["D.1 figure 2", "HTTPS", "0 foo.example.com.", `0000${FOO_COM}`],
    ["D.2 figure 3", "SVCB", "1 .", "000100"],
    ["D.2 figure 4", "SVCB", "16 foo.example.com. port=53", `0010${FOO_COM}000300020035`],
    ["D.2 figure 5", "SVCB", "1 foo.example.com. key667=hello", `0001${FOO_COM}029b000568656c6c6f`],
    ["D.2 figure 6", "SVCB", '1 foo.example.com. key667="hello\\210qoo"', `0001${FOO_COM}029b000968656c6c6fd2716f6f`],
    [
      "D.2 figure 7",
      "SVCB",
      '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
      `0001${FOO_COM}0006002020010db800000000000000000000000120010db8000000000000000000530001`,
    ],
    [
      "D.2 figure 8",
      "SVCB",
      '1 example.com. ipv6hint="2001:db8:122:344::192.0.2.33"',
      `0001${EXAMPLE}0006001020010db80122034400000000c0000221`,
    ],
    [
      "D.2 figure 9",
      "SVCB",
      "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
      `0010${FOO_ORG}0000000400010004000100090268320568332d313900040004c0000201`,
    ],
    [
      "D.2 figure 10, quoted",
      "SVCB",
      '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
      `0010${FOO_ORG}0001000c08665c6f6f2c626172026832`,
    ],
    [
      "D.2 figure 10, escaped",
      "SVCB",
      "16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2",
      `0010${FOO_ORG}0001000c08665c6f6f2c626172026832`,
    ],
  ])("%s: %s %s", (_figure, type, text, wire) => {
    const raw = parseRdata(type, text);
    expect(Buffer.from(raw).toString("hex")).toBe(wire);
    const shown = readRdata(type, raw, 0, raw.length);
    expect(Buffer.from(parseRdata(type, shown.data)).toString("hex")).toBe(wire);
  });

  it.each([
    ["figure 11: a key twice", `0001${FOO_COM}007b0003616263007b0003646566`],
    ["figure 12: mandatory without a value", `0001${FOO_COM}00000000`],
    ["figure 12: alpn without a value", `0001${FOO_COM}00010000`],
    ["figure 12: port without a value", `0001${FOO_COM}00030000`],
    ["figure 12: ipv4hint without a value", `0001${FOO_COM}00040000`],
    ["figure 12: ipv6hint without a value", `0001${FOO_COM}00060000`],
    ["figure 13: no-default-alpn with a value", `0001${FOO_COM}00020003616263`],
  ])("D.3 %s is malformed on the wire", (_figure, wire) => {
    const raw = Buffer.from(wire, "hex");
    expect(readRdata("SVCB", raw, 0, raw.length).typed).toEqual({});
  });
});
