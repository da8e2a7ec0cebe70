import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { startStandInService, type StandInService } from "#test/support/stand-in-service.ts";
import { until } from "#test/support/until.ts";

// What the command prints, from a real control plane with agents in two regions.

const MAIN = fileURLToPath(new URL("../../shared/client/main.ts", import.meta.url));

let service: StandInService;
let second: AgentProcess;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  service = await startStandInService();
  second = await startAgent(service.plane, "eu-west", { ...service.world.settings });
  environment = { VANTAGE_BASE_URL: service.plane.url, VTG_API_KEY: await service.plane.createKey() };
});
afterAll(async () => {
  await second?.stop();
  await service?.stop();
});

/** Runs a command with a terminal of this width (null: a pipe), without colours. */
function vantage(line: readonly string[], columns: number | null = null): Promise<Ran> {
  return runVantage(line, { ...environment, NO_COLOR: "1" }, () => {}, { columns });
}

describe("a pipe gets one document", () => {
  it("of JSON, which is the result of the API", async () => {
    const ran = await vantage(["ping", "shop.test", "--count", "1"]);
    expect(ran).toMatchObject({ status: 0, complained: "" });
    expect(JSON.parse(ran.said)).toMatchObject({ host: "shop.test", packets_sent: 1, replies: [{ seq: 1 }] });
    const all = await vantage(["ping", "shop.test", "--count", "1", "--from", "all"]);
    const named = await vantage(["ping", "shop.test", "--count", "1", "--locations", "local,eu-west"]);
    for (const { said } of [all, named]) expect(JSON.parse(said)).toMatchObject({ summary: { total: 2, ok: 2 } });
    const two = await vantage(["ping", "shop.test", "--count", "1", "--limit", "2"]);
    expect(JSON.parse(two.said)).toMatchObject({ summary: { total: 2 } });
  });

  it("also if the target does not answer: the error, with a reason on standard error", async () => {
    const ran = await vantage(["check", `https://shop.test:${await freePort()}/`]);
    expect(JSON.parse(ran.said)).toMatchObject({ error: { code: "request_failed", source: "target" } });
    expect(ran).toMatchObject({ status: 1, complained: expect.stringMatching(/^vantage check: /) });
  });

  it("of CSV with --csv", async () => {
    const { status, said } = await vantage(["ping", "shop.test", "--count", "1", "--csv"]);
    const lines = `${said}\n`.split("\r\n");
    expect([status, lines[0], lines.at(-1)]).toEqual([0, "key,value", ""]);
    expect(lines).toContain("host,shop.test");
  });

  it("and a terminal gets it with --json", async () => {
    const { said } = await vantage(["http-status", `${service.world.https}/`, "--json"], 80);
    expect(JSON.parse(said)).toMatchObject({ code: 200 });
  });
});

describe("a terminal gets text", () => {
  it.each([80, 40])("of %i columns: what was found while it runs, then the summary", async (columns) => {
    const { status, said, complained } = await vantage(["ping", "shop.test", "--count", "2"], columns);
    expect([status, complained]).toEqual([0, ""]);
    const lines = said.split("\n");
    expect(lines.slice(0, 3)).toEqual([
      expect.stringMatching(/^From .+:$/),
      expect.stringMatching(/^Packet 1 .* ms/),
      expect.stringMatching(/^Packet 2 .* ms/),
    ]);
    expect(lines[4]).toMatch(/^GOOD {2}shop\.test answers in/);
    expect(lines).toContain("Packets  2 of 2 answered");
    expect(lines).not.toContain("Replies");
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });

  it("with colours, which NO_COLOR turns off and FORCE_COLOR keeps in a pipe", async () => {
    const line = ["http-status", `${service.world.https}/`];
    const colours = await runVantage(line, environment, () => {}, { columns: 80 });
    expect(colours.said).toContain("\u001b[32mGOOD\u001b[39m");
    const plain = await vantage(line, 80);
    expect(plain.said).not.toContain("\u001b");
    const headline = (text: string) => text.split("\n")[0]?.replace(/\d+ m?s$/, "a time");
    expect(headline(stripVTControlCharacters(colours.said))).toBe(headline(plain.said));
    const live = await runVantage(["check", `shop.test:${await freePort()}`, "--from", "all"], environment, () => {}, {
      columns: 80,
    });
    const [first = ""] = live.said.split("\n");
    expect([first.startsWith("\u001b[31m"), first.endsWith("\u001b[39m")]).toEqual([true, true]);
    expect(stripVTControlCharacters(first)).toMatch(/^(?:local|eu-west).*: /);
    const forced = await runVantage([...line, "--text"], { ...environment, FORCE_COLOR: "1" });
    expect(forced.said).toContain("\u001b[32mGOOD");
  });

  it("of locations side by side, and each of up to three by itself", async () => {
    const { status, said } = await vantage(["ping", "shop.test", "--count", "1", "--from", "all"], 80);
    expect(status).toBe(0);
    expect(said).toMatch(/^(?:local|eu-west).*: GOOD {2}shop\.test answers/);
    expect(said).toContain("By location");
    expect(said).toMatch(/^From local/m);
    expect(said).toMatch(/^From eu-west/m);
    expect(said.match(/^Replies$/gm)).toHaveLength(2);
  });

  it("of a target that does not answer", async () => {
    const { status, said, complained } = await vantage(["check", `https://shop.test:${await freePort()}/`], 80);
    expect([status, complained]).toEqual([1, ""]);
    expect(said).toMatch(/^BAD {2}/);
  });

  it("of dns answers as they come", async () => {
    const { said } = await vantage(["dns", "shop.test", "--types", "A,MX"], 80);
    expect(said).toMatch(/^From .*:\n(?:A|MX) /);
    expect(said).toMatch(/^A {6}127\.80\.0\.1 {2}[\d.]+ ms/m);
  });
});

it("--latency prints the timings of each location on a line", async () => {
  const { status, said } = await vantage(["check", `${service.world.https}/`, "--from", "all", "--latency"]);
  expect(status).toBe(0);
  const lines = said.split("\n");
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toMatch(/^(?:local|eu-west).* {2}Total time \d.* ms, .*ms$/);
});

it("--share prints a link that anybody can read, also of a target that does not answer", async () => {
  const dead = `https://shop.test:${await freePort()}/`;
  for (const url of [`${service.world.https}/`, dead]) {
    const { said, complained } = await vantage(["check", url, "--share"]);
    expect(() => JSON.parse(said) as unknown).not.toThrow();
    const [link = ""] = /http\S+\/s\/\S+/.exec(complained) ?? [];
    expect(link.startsWith(service.plane.url)).toBe(true);
    expect((await fetch(link)).status, url).toBe(200);
  }
});

it("a value can come from standard input with @-", async () => {
  const child = spawn(process.execPath, [MAIN, "email-header", "@-"], {
    env: { PATH: process.env["PATH"], ...environment },
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  child.stdin.end("From: news@shop.test\r\nSubject: Lamps\r\n\r\n");
  await once(child, "close");
  expect(JSON.parse(said)).toMatchObject({ subject: "Lamps" });
});

describe("Ctrl-C", () => {
  /** Starts a command, and interrupts it once `isBegun`. */
  async function interrupt(words: readonly string[], isBegun: (said: string) => boolean) {
    const child = spawn(process.execPath, [MAIN, ...words], { env: { PATH: process.env["PATH"], ...environment } });
    let [said, complained] = ["", ""];
    child.stdout.on("data", (chunk) => (said += String(chunk)));
    child.stderr.on("data", (chunk) => (complained += String(chunk)));
    const ended = once(child, "close");
    await until(() => isBegun(said), "the first results");
    child.kill("SIGINT");
    const [status] = (await ended) as [number | null];
    return { status, said, complained };
  }

  it("leaves what has been found so far, and ends with 130", async () => {
    const slow = ["ping", "shop.test", "--count", "10", "--interval-ms", "1000", "--text"];
    const { status, said, complained } = await interrupt(slow, (text) => text.includes("Packet 2"));
    expect(status).toBe(130);
    expect(said).toMatch(/^From .*:\nPacket 1 /);
    expect(said).not.toContain("Packet 10");
    expect(complained).toBe("vantage ping: interrupted: the result is not complete\n");
  });

  it("leaves the locations that have answered", async () => {
    let asked = 0;
    // The first probe gets an answer, the second none.
    const site = createHttpServer((_, response) => {
      asked += 1;
      if (asked === 1) response.end("ok");
    });
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    const { port } = site.address() as AddressInfo;
    const words = ["check", `http://127.0.0.1:${port}/`, "--from", "all", "--text"];
    const { status, said } = await interrupt(words, (text) => text.includes("answers 200"));
    expect(status).toBe(130);
    expect(said).toMatch(/^(?:local|eu-west).*: GOOD .* answers 200.*\n\nGOOD .* answers 200/);
    site.closeAllConnections();
    site.close();
  });

  it("leaves no half document in a pipe", async () => {
    let isAsked = false;
    const silent = createServer((socket) => {
      isAsked = true;
      socket.on("error", () => {});
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const ran = await interrupt(["check", `http://127.0.0.1:${port}/`], () => isAsked);
    expect(ran).toEqual({ status: 130, said: "", complained: "vantage check: interrupted\n" });
    silent.close();
  });
});
