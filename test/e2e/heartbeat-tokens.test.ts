import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { loopbackAddress } from "#test/support/heartbeats/send-ping.ts";
import { areAlike, compareTimes, quantileOf, type Comparison } from "#test/support/heartbeats/timing.ts";
import { freshTokensFor, measureTokens, periodOf, shapeOf } from "#test/support/heartbeats/token-timing.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

/** The usual periods of heartbeats, in seconds. */
const PERIODS = [60, 300, 600, 900, 1_800, 3_600, 21_600, 43_200, 86_400, 604_800];
/** Pings of each kind. The whole measurement has 10,000. */
const COUNT = Number(process.env["TOKEN_PINGS"] ?? 2_000);

let database: TestDatabase;
let plane: ControlPlaneProcess;
let key: string;
let valid: string[];

const randomToken = () => randomBytes(16).toString("hex");

beforeAll(async () => {
  database = await createTestDatabase();
  plane = await startControlPlaneProcess(database.url);
  key = await plane.createKey("captain");
  valid = [];
  for (const period of [...PERIODS, ...PERIODS]) {
    const { token } = await create({ heartbeat: { period_seconds: period } });
    valid.push(token);
    // A second ping changes no status.
    await plane.call(`/api/heartbeat/${token}`);
  }
});

afterAll(async () => {
  await plane?.end("SIGTERM");
  await database?.drop();
});

async function create(body: object): Promise<{ readonly id: number; readonly token: string }> {
  const { id, heartbeat_url: url } = await createMonitor(plane, key, { check_type: "heartbeat", ...body });
  return { id, token: new URL(url).pathname.split("/").at(-1) ?? "" };
}

/** Creates heartbeats that get no ping yet, in accounts of their own: an account has at most 1,000. */
async function createFresh(count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  while (tokens.length < count) {
    const owner = await plane.createKey("captain");
    const size = Math.min(1_000, count - tokens.length);
    const monitors = Array.from({ length: size }, (_, n) => ({
      name: `Fresh ${n}`,
      check_type: "heartbeat",
      heartbeat: { period_seconds: PERIODS[n % PERIODS.length] },
    }));
    const body = { version: 1, monitors };
    const made = await plane.call("/api/v4/monitors?action=import", { key: owner, body });
    expect(made.status, made.text.slice(0, 500)).toBe(201);
    for (let page = 1; page <= Math.ceil(size / 100); page += 1) {
      const { body: listed } = await plane.call(`/api/v4/monitors?per_page=100&page=${page}`, { key: owner });
      const found = listed.data as readonly { readonly heartbeat_url: string }[];
      tokens.push(...found.map(({ heartbeat_url: url }) => new URL(url).pathname.split("/").at(-1) ?? ""));
    }
  }
  return tokens;
}

/** Prints the distribution of times. */
function printTimes(name: string, times: readonly number[]): void {
  const figures = [0.5, 0.9, 0.99].map((quantile) => `p${quantile * 100} ${quantileOf(times, quantile).toFixed(3)}`);
  console.log(`${name}, ms: ${figures.join(", ")}`);
}

function print(name: string, comparison: Comparison): void {
  const figures = comparison.map(({ quantile, difference }) => `p${quantile * 100} ${difference.toFixed(3)}`);
  console.log(`${name}, ms: ${figures.join(", ")}`);
}

describe("a stranger who tries tokens", () => {
  it("sees the same bytes after the same time, whether a token exists or not", async () => {
    const run = async (round: number) => {
      const invalid = Array.from({ length: 500 }, randomToken);
      const port = Number(new URL(plane.url).port);
      const { valid: good, invalid: bad } = await measureTokens({
        port,
        valid,
        // Their number matters too: the database has no statistics about tables that have just grown.
        fresh: await createFresh(Math.max(1_000, freshTokensFor(COUNT))),
        invalid,
        count: COUNT,
        seed: 11 + round,
        from: 1_000 + 10_000 * round,
      });
      expect(new Set(good.map(shapeOf))).toEqual(new Set(bad.map(shapeOf)));
      expect(new Set(bad.map(shapeOf)).size).toBe(1);
      for (const answer of bad) {
        const period = periodOf(answer);
        // Generous: the time is that of the arrival, in whole seconds.
        expect(
          PERIODS.some((usual) => period <= usual + 1 && period > usual - 55),
          `${period}`,
        ).toBe(true);
      }
      const [one, other] = [good.map(({ ms }) => ms), bad.map(({ ms }) => ms)];
      const comparison = compareTimes(one, other);
      printTimes("valid tokens", one);
      printTimes("unknown tokens", other);
      print("unknown tokens take longer by", comparison);
      const slower = compareTimes(
        one,
        other.map((ms) => ms + 1),
      );
      const faster = compareTimes(
        one.map((ms) => ms + 1),
        other,
      );
      // The comparison itself finds a millisecond in these measurements.
      expect([areAlike(slower), areAlike(faster)]).toEqual([false, false]);
      return areAlike(comparison);
    };
    expect((await run(0)) || (await run(1)) || (await run(2))).toBe(true);
  });

  it("sees the same bytes for tokens of any form, and of heartbeats that do not count the ping", async () => {
    const paused = await create({ is_active: false });
    const deleted = await create({});
    await plane.call(`/api/v4/monitors?id=${deleted.id}`, { key, method: "DELETE" });
    const post = await create({ heartbeat: { methods: "post" } });
    const [known] = valid;
    const wanted = shapeOf(await ask(known ?? ""));
    const tokens = [
      paused.token,
      deleted.token,
      post.token,
      `${known}0`,
      (known ?? "").slice(1),
      (known ?? "").toLowerCase(),
      "x",
      "%41".repeat(32),
      `${known}%20`,
      "%F0%9F%92%94",
      "%C3%A4".repeat(32),
      `${known}/256`,
      `${known}0/-1`,
      `${known}/%73tart`,
      `${known}0/FAIL`,
      `${known}0?status=down`,
      "x".repeat(400),
      "'%20or%201=1--",
      "*",
      "__proto__",
      "%zz",
      "%",
      "%00",
      "%0a",
      "%7f",
      "%c0%af",
      "%C2%85",
      `${known}%00`,
    ];
    for (const [index, token] of tokens.entries()) {
      const answer = await ask(token, 20_000 + index);
      expect.soft(shapeOf(answer), token).toBe(wanted);
    }
    const { body } = await plane.call(`/api/v4/monitors?id=${post.id}`, { key });
    expect((body.data as { readonly status: string }).status).toBe("unknown");
  });

  it.each([
    ["an empty token", "", 404],
    ["an empty token and a slash", "/", 404],
    ["a token longer than any path parameter", `/${"x".repeat(600)}`, 200],
    ["a path of 20 KB", `/${"x".repeat(20_000)}`, 400],
    ["a broken escape", "/%zz", 200],
    ["a NUL", "/%00", 200],
    ["a tail that is none", "/x/stop", 404],
    ["a broken escape as the tail", "/x/%zz", 404],
    ["a NUL in the tail", "/x/start%00", 404],
    ["a line break in the tail", "/x/start%0a", 404],
    ["steps to a parent folder", "/../../etc/passwd", 404],
    ["an overlong escape", "/%c0%af", 200],
  ])(
    "gets the answer that any token has, but for paths that are too long, have no token or another tail: %s",
    async (_what, rest, status) => {
      const answer = await sendRaw(
        plane.url,
        `GET /api/heartbeat${rest} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    },
  );
});

async function ask(token: string, from = 19_999): Promise<{ readonly head: string; readonly body: string }> {
  const { port } = new URL(plane.url);
  const request = `GET /api/heartbeat/${token} HTTP/1.1\r\nhost: vantage\r\n\r\n`;
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress: loopbackAddress(from) });
    socket.on("connect", () => socket.write(request)).on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0 || !text.endsWith("}")) return;
      socket.destroy();
      resolve({ head: text.slice(0, end), body: text.slice(end + 4) });
    });
  });
}
