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
    ["/0?exit=3", "exit", 0],
    ["/%66%41il", "fail", null],
    ["%2Ffail", "fail", null],
    ["/-2147483648", "exit", -2_147_483_648],
    ["?status=DOWN", "fail", null],
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

  it.each(["/stop", "/%24%3F", "/%2566ail", "%2Fstop", "/stop?status=ok"])(
    "%s is none of its tails, whether the token exists or not, and by each method",
    async (rest) => {
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
    },
  );

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
    [{ cron: "0 25 * * *" }, 'heartbeat.cron: the hour field has \\"25\\"'],
    [{ cron: "0 3 * *\u00a0*" }, "heartbeat.cron: has the character U+00A0"],
    [{ cron: "0 3 * * *", timezone: "Mars/Base" }, "heartbeat.timezone"],
    [{ timezone: "+02:00" }, "heartbeat.timezone"],
  ])("with %j", async (heartbeat, field) => {
    const { status, text } = await plane.call("/api/v4/monitors", {
      key,
      body: { check_type: "heartbeat", heartbeat },
    });
    expect(status).toBe(400);
    expect(text).toContain(field);
  });
});

it("a heartbeat with a schedule is due as cron runs it when the clocks change", async () => {
  clock.advance(new Date("2026-03-28T12:00:00Z").getTime() - clock.now().getTime());
  const { id, path } = await create({ cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 60 });
  const { text } = await sendPing(plane.url, path, { from: 100 });
  const due = new Date("2026-03-29T01:00:00Z").getTime();
  expect(JSON.parse(text)).toEqual({ status: "ok", next_ping_expected: due / 1_000 });
  expect((await read(id)).deadline_at).toBe(new Date(due + 60_000).toISOString());
});
