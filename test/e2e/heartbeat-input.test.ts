import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { sendPing } from "#test/support/heartbeats/send-ping.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-03-01T12:00:00.000Z"));

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const key = await plane.createKey("captain");

async function create(heartbeat: object = {}): Promise<{ readonly id: number; readonly path: string }> {
  const { id, heartbeat_url: url } = await createMonitor(plane, key, { check_type: "heartbeat", heartbeat });
  return { id, path: new URL(url).pathname };
}

async function read(id: number) {
  const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
  return (body.data as { readonly heartbeat: Heartbeat }).heartbeat;
}

interface Heartbeat {
  readonly deadline_at: string | null;
  readonly pings: readonly {
    readonly body: string | null;
    readonly body_truncated: boolean;
    readonly rid: string | null;
    readonly kind: string;
    readonly exit_code: number | null;
  }[];
}

describe("a ping with an odd body", () => {
  it.each<readonly [what: string, head: string, body: string, kept: string | null]>([
    ["of 10 MB", "content-length: 10000000\r\n", "x".repeat(10_000_000), "x".repeat(10_240)],
    ["in chunks", "transfer-encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", "hello"],
    ["that is compressed", "content-encoding: gzip\r\ncontent-length: 3\r\n", "abc", "abc"],
    ["of no known type", "content-type: ;;;\r\ncontent-length: 2\r\n", "ok", "ok"],
    ["after Expect: 100-continue", "expect: 100-continue\r\ncontent-length: 2\r\n", "ok", "ok"],
  ])("%s is recorded", async (_what, head, body, kept) => {
    const { id, path } = await create();
    const answer = await sendRaw(
      plane.url,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${head}\r\n${body}`,
    );
    expect(answer).toContain("HTTP/1.1 200 OK");
    expect((await read(id)).pings).toMatchObject([{ body: kept, body_truncated: body.length > 1_000_000 }]);
  });

  it("that ends early is not recorded, and pings in one go all are", async () => {
    const { id, path } = await create();
    await sendRaw(plane.url, `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc`, 200);
    expect((await read(id)).pings).toEqual([]);
    const one = (rid: number) => `GET ${path}?rid=${rid} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const last = `GET ${path}?rid=4 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
    const answer = await sendRaw(plane.url, `${one(1)}${one(2)}${one(3)}${last}`);
    expect(answer.split("HTTP/1.1 200 OK")).toHaveLength(5);
    expect((await read(id)).pings.map(({ rid }) => rid)).toEqual(["4", "3", "2", "1"]);
  });
});

describe("more than 30 pings a minute from one address", () => {
  it("are answered with 429, and recorded without their bodies", async () => {
    const { id, path } = await create();
    for (let n = 0; n < 30; n += 1) expect((await sendPing(plane.url, path, { from: 7 })).status).toBe(200);
    const response = await sendPing(plane.url, `${path}/fail`, { from: 7, body: "secret" });
    expect(response.status).toBe(429);
    expect((await read(id)).pings[0]).toMatchObject({ kind: "fail", body: null, body_truncated: true });
  });
});

describe("what follows the token", () => {
  it.each<readonly [rest: string, kind: string, exitCode: number | null]>([
    ["/", "success", null],
    ["//", "success", null],
    ["/SUCCESS", "success", null],
    ["/success?status=down", "success", null],
    ["/0?exit=3", "exit", 0],
    ["/Fail/", "fail", null],
    ["/%66%41il", "fail", null],
    ["%2Ffail", "fail", null],
    ["/LOG", "log", null],
    ["/-1", "exit", -1],
    ["/256", "exit", 256],
    ["/3221225786", "exit", 3_221_225_786],
    ["/-2147483648", "exit", -2_147_483_648],
    ["?status=DOWN", "fail", null],
    ["/?state=error", "fail", null],
    ["?exit=255&rid=1", "exit", 255],
    ["?status=up&exit=x", "success", null],
    ["?status=%zz", "success", null],
  ])("%s is recorded as %s, by each method", async (rest, kind, exitCode) => {
    const { id, path } = await create();
    for (const [index, method] of ["GET", "POST", "HEAD"].entries()) {
      expect((await sendPing(plane.url, path + rest, { method, from: 30 })).status).toBe(200);
      expect((await read(id)).pings).toHaveLength(index + 1);
    }
    const { pings } = await read(id);
    expect(pings.map((ping) => [ping.kind, ping.exit_code])).toEqual([1, 2, 3].map(() => [kind, exitCode]));
    clock.advance(60_000);
  });

  it.each([
    "/stop",
    "/failed",
    "/4294967296",
    "/-2147483649",
    "/1.5",
    "/$?",
    "/%24%3F",
    "/fail%20",
    "/%2566ail",
    "/start/now",
    "//1",
    "%2Fstop",
    "/stop?status=ok",
    "/log.txt",
  ])("%s is none of its tails, whether the token exists or not, and by each method", async (rest) => {
    const { id, path } = await create();
    const answersTo = async (address: string) => {
      const answers: string[] = [];
      for (const method of ["GET", "POST"]) {
        const { port } = new URL(plane.url);
        const head = `${method} ${address} HTTP/1.1\r\nhost: x:${port}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
        answers.push((await sendRaw(plane.url, head)).replaceAll(/req_\w+|date: [^\r]+|"duration_ms":\d+/gi, ""));
      }
      return answers;
    };
    const known = await answersTo(path + rest);
    for (const answer of known) {
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('"not_found"');
      expect(answer).toContain("/start, /fail, /log, /success or /<exit code>");
    }
    expect(await answersTo(`/api/heartbeat/${"x".repeat(32)}${rest}`)).toEqual(known);
    expect(await answersTo(`/api/heartbeat/short${rest}`)).toEqual(known);
    expect((await sendPing(plane.url, path + rest, { method: "HEAD", from: 31 })).status).toBe(404);
    expect((await read(id)).pings).toEqual([]);
  });

  it("is refused without using up what the client's address may send", async () => {
    const { path } = await create();
    for (let sent = 0; sent < 31; sent += 1) await sendPing(plane.url, `${path}/stop`, { from: 33 });
    expect((await sendPing(plane.url, path, { from: 33 })).status).toBe(200);
  });
});

describe("the path of pings", () => {
  it.each(["PUT", "DELETE", "PATCH"])("refuses %s", async (method) => {
    const { path } = await create();
    expect((await sendPing(plane.url, path, { method, from: 9 })).status).toBe(405);
  });
});

describe("a new heartbeat is refused", () => {
  it.each<readonly [object, string]>([
    [{ cron: "nonsense" }, "heartbeat.cron"],
    [{ cron: "0 0 30 2 *" }, "heartbeat.cron"],
    [{ cron: "@reboot" }, "heartbeat.cron: cannot be @reboot"],
    [{ cron: "0 25 * * *" }, 'heartbeat.cron: the hour field has \\"25\\"'],
    [{ cron: "0 3 * *\u00a0*" }, "heartbeat.cron: has the character U+00A0"],
    [{ cron: "0\t3 * * *" }, "heartbeat.cron: has the character U+0009"],
    [{ cron: "* * * * * *" }, "heartbeat.cron"],
    [{ cron: "60 * * * *" }, "heartbeat.cron"],
    [{ cron: "0 3 * * *", timezone: "Mars/Base" }, "heartbeat.timezone"],
    [{ timezone: "+02:00" }, "heartbeat.timezone"],
    [{ period_seconds: 29 }, "heartbeat.period_seconds"],
    [{ period_seconds: 31_622_401 }, "heartbeat.period_seconds"],
    [{ grace_seconds: 0 }, "heartbeat.grace_seconds"],
    [{ methods: "get" }, "heartbeat.methods"],
  ])("with %j", async (heartbeat, field) => {
    const { status, text } = await plane.call("/api/v4/monitors", {
      key,
      body: { check_type: "heartbeat", heartbeat },
    });
    expect(status).toBe(400);
    expect(text).toContain(field);
  });
});

describe("cron at a change of the clocks", () => {
  // As cron(8) of Debian: a skipped time runs at the change, a repeated one at its first pass.
  it.each<readonly [zone: string, now: string, due: string]>([
    ["Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
    ["America/New_York", "2027-03-13T12:00:00Z", "2027-03-14T07:00:00Z"],
    ["America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T07:30:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "2027-04-03T12:00:00Z", "2027-04-03T16:00:00Z"],
  ])("in %s after %s is due at %s", async (timezone, now, due) => {
    clock.advance(new Date(now).getTime() - clock.now().getTime());
    const { id, path } = await create({ cron: "30 2 * * *", timezone, grace_seconds: 60 });
    const { text } = await sendPing(plane.url, path, { from: 100 });
    expect(JSON.parse(text)).toEqual({ status: "ok", next_ping_expected: new Date(due).getTime() / 1_000 });
    expect((await read(id)).deadline_at).toBe(new Date(new Date(due).getTime() + 60_000).toISOString());
  });
});
