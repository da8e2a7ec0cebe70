import { readFileSync } from "node:fs";
import { request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { loopbackAddress } from "#test/support/heartbeats/send-ping.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

const UPLOADS = 64;
const WAVES = 3;
const CHUNK = Buffer.alloc(65_536, "a");
/** 10 MB. */
const CHUNKS = 160;
/** Generous: the bodies of one wave are 640 MB, those of all are 1.9 GB. */
const MOST_GROWTH_MB = 400;

let database: TestDatabase;
let plane: ControlPlaneProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  plane = await startControlPlaneProcess(database.url);
});
afterAll(async () => {
  await plane?.end("SIGTERM");
  await database?.drop();
});

/** Returns the largest resident size of the control plane so far, in MB (proc(5)). */
function peakMb(): number {
  const [, kilobytes = ""] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${plane.pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** Sends a ping with a body of 10 MB, every second one chunked. Returns the status of the answer. */
function upload(path: string, index: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = index % 2 === 0 ? { "content-length": String(CHUNK.length * CHUNKS) } : {};
    const options = { method: "POST", localAddress: loopbackAddress(index), agent: false, headers: length };
    const sent = request(`${plane.url}${path}`, options, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", reject);
    let written = 0;
    const write = (): void => {
      while (written < CHUNKS) {
        written += 1;
        if (!sent.write(CHUNK)) return void sent.once("drain", write);
      }
      sent.end();
    };
    write();
  });
}

it("pings with bodies of 10 MB are recorded with their beginning, and fill no memory", async () => {
  const key = await plane.createKey("captain");
  const { id, heartbeat_url: url } = await createMonitor(plane, key, { check_type: "heartbeat" });
  const before = peakMb();
  for (let wave = 0; wave < WAVES; wave += 1) {
    const statuses = await Promise.all(
      Array.from({ length: UPLOADS }, (_, index) => upload(new URL(url).pathname, wave * UPLOADS + index)),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  }
  expect(peakMb() - before).toBeLessThan(MOST_GROWTH_MB);
  const { heartbeat } = (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data as {
    readonly heartbeat: { readonly pings: readonly { readonly body: string; readonly body_truncated: boolean }[] };
  };
  expect(heartbeat.pings).toHaveLength(20);
  for (const ping of heartbeat.pings) expect(ping).toMatchObject({ body: "a".repeat(10_240), body_truncated: true });
});
