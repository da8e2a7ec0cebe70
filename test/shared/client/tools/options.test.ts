import { describe, expect, it } from "vitest";
import { readBody } from "#shared/client/tools/options.ts";
import { ping } from "#shared/tools/ping/contract.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

describe("the help of a tool", () => {
  it.each(CONTRACTS)("$name fits 80 columns, also to a pipe", async ({ name }) => {
    const { status, said } = await runVantage([name, "--help"], {});
    expect(status).toBe(0);
    expect(said.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("lists the choices, the range and the default of each parameter", async () => {
    const text = async (name: string) => (await runVantage([name, "--help"], {})).said.replaceAll(/\s+/g, " ");
    const pinged = await text("ping");
    expect(pinged).toContain("(choices: ping, ports, traceroute; default: ping)");
    expect(pinged).toContain("--count <n> ping: echoes to send (1 to 10; default: 4)");
    expect(pinged).toContain("(choices: 4, 6)");
    expect(await text("check")).toContain("(choices: GET, HEAD, POST; default: GET)");
    expect(await text("dns")).toContain("--dnssec <0|1>");
    expect(await text("dns")).toContain("default: A,AAAA,MX,NS,TXT,CNAME,SOA)");
  });
});

describe("the locations of a call", () => {
  it.each([
    [{}, undefined],
    [{ from: "eu,us" }, "eu,us"],
    [{ locations: "eu" }, "eu"],
    [{ limit: "3" }, "nearest:3"],
    [{ from: "eu", limit: "3" }, "eu:3"],
    [{ from: "eu, us,asia", limit: "7" }, "eu:3,us:2,asia:2"],
    [{ from: "eu,us,asia", limit: "2" }, "eu:1,us:1"],
    [{ from: "eu+AS64500,!fr", limit: "2" }, "eu+AS64500:2,!fr"],
  ])("of %j are %j", (flags, locations) => {
    const body = { host: "a.example", ...(locations === undefined ? {} : { locations }) };
    expect(readBody(ping, "a.example", flags)).toEqual({ ok: true, body });
  });

  it.each([
    [{ limit: "0" }, /^--limit must be a number from 1 to 9999$/],
    [{ limit: "many" }, /^--limit must be a number/],
    [{ from: "all", limit: "2" }, /^--limit .* all has one/],
    [{ from: "eu:2,us", limit: "3" }, /^--limit .* eu:2 has one/],
    [{ from: "probe:x1", limit: "3" }, /^--limit .* probe:x1 has one/],
  ])("of %j are refused", (flags, line) => {
    expect(readBody(ping, "a.example", flags)).toEqual({ ok: false, line: expect.stringMatching(line) });
  });
});
