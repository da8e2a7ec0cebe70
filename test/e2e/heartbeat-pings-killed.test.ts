import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type Cluster } from "#shared/client/up/postgres/cluster.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { findingsOf } from "#test/support/heartbeats/history.ts";
import { keepAllPings, readHistory } from "#test/support/heartbeats/record-history.ts";
import { sendPing } from "#test/support/heartbeats/send-ping.ts";

const HEARTBEATS = 20;
const SENDERS = 40;
const KINDS = ["", "", "/start", "/fail", "/log", "/0"];
/** What the product uses, but for the speed of this machine's disk. */
const SETTINGS = { full_page_writes: "off" };

interface Made {
  readonly id: number;
  readonly path: string;
}

let folder: string;
let cluster: Cluster;
let url: string;
let sql: Sql;
let plane: ControlPlaneProcess;
let made: readonly Made[];
let sent = 0;
/** The database is stopped. */
let isAway = false;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-pings-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  await startDatabase();
  await cluster.createDatabase("vantage");
  url = cluster.url("vantage");
  await migrate(url);
  sql = connect(url, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
  await keepAllPings(sql);
  plane = await startControlPlaneProcess(url);
  const key = await plane.createKey("captain");
  made = await Promise.all(
    Array.from({ length: HEARTBEATS }, async (): Promise<Made> => {
      const { body } = await plane.call("/api/v4/monitors", { key, body: { check_type: "heartbeat" } });
      const { id, heartbeat_url: address } = body.data as { readonly id: number; readonly heartbeat_url: string };
      return { id, path: new URL(address).pathname };
    }),
  );
});

afterAll(async () => {
  await plane?.end("SIGKILL");
  await sql?.end();
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startDatabase(port?: number): Promise<void> {
  const started = await startCluster({
    root: join(folder, "postgres"),
    settings: SETTINGS,
    ...(port === undefined ? {} : { port }),
  });
  if (!started.ok) throw new Error(started.line);
  ({ cluster } = started);
}

/** Sends pings until it is stopped. */
function stream() {
  const answered: { readonly id: number; readonly rid: string; readonly hasWaited: boolean }[] = [];
  const statuses = new Map<number, number>();
  let sentWhileAway = 0;
  let isOver = false;
  const send = async (): Promise<void> => {
    for (;;) {
      if (isOver) return;
      sent += 1;
      const one = made[sent % HEARTBEATS];
      if (one === undefined) return;
      const rid = `r${sent}`;
      const hasWaited = isAway;
      if (hasWaited) sentWhileAway += 1;
      const { status } = await sendPing(plane.url, `${one.path}${KINDS[sent % KINDS.length]}?rid=${rid}`, {
        from: sent,
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) answered.push({ id: one.id, rid, hasWaited });
      // Nobody listens.
      if (status === 0) await sleep(20);
    }
  };
  const senders = Array.from({ length: SENDERS }, send);
  return {
    answered,
    statuses,
    sentWhileAway: () => sentWhileAway,
    /** Waits until so many more were answered with 200. */
    async until(count: number): Promise<void> {
      const wanted = answered.length + count;
      await expect.poll(() => answered.length, { interval: 2 }).toBeGreaterThanOrEqual(wanted);
    },
    async end(): Promise<void> {
      isOver = true;
      await Promise.all(senders);
    },
  };
}

/** Waits until the statuses follow the pings. A sweep makes them follow those of a replica that was killed. */
async function untilFollowed(): Promise<void> {
  await expect
    .poll(async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from heartbeats where verdict_number > judged_number`;
      return row?.count;
    })
    .toBe(0);
}

/** Lists what is wrong with the pings in the database, without what follows for the statuses. */
async function pingFindings(answered: Parameters<typeof findings>[0]): Promise<readonly string[]> {
  return (await findings(answered)).filter((finding) => /^(?:ping|the pings) /.test(finding));
}

/** Lists what is wrong in the database. */
async function findings(
  answered: readonly { readonly id: number; readonly rid: string }[],
): Promise<readonly string[]> {
  const byId = Map.groupBy(answered, ({ id }) => id);
  const all: string[] = [];
  for (const { id } of made) {
    const history = await readHistory(sql, id);
    all.push(...findingsOf({ ...history, answered: (byId.get(id) ?? []).map(({ rid }) => rid) }));
  }
  return all;
}

describe("pings that were answered with 200", () => {
  it("are in the database after a replica was killed", async () => {
    for (let kill = 0; kill < 3; kill += 1) {
      const pings = stream();
      await pings.until(300 + 37 * kill);
      const killed = plane;
      await killed.end("SIGKILL");
      await pings.end();
      expect(await pingFindings(pings.answered)).toEqual([]);
      expect([...pings.statuses.keys()].filter((status) => status !== 200 && status !== 0)).toEqual([]);
      plane = await startControlPlaneProcess(url);
      await untilFollowed();
      expect(await findings(pings.answered)).toEqual([]);
    }
  });

  it("change the status although their replica was killed before it followed, once and at their own time", async () => {
    const [one] = made;
    if (one === undefined) throw new Error("there is no heartbeat");
    const answered: { id: number; rid: string }[] = [];
    const send = async (kind: string, rid: string): Promise<void> => {
      sent += 1;
      const { status } = await sendPing(plane.url, `${one.path}${kind}?rid=${rid}`, { from: sent });
      expect(status).toBe(200);
      answered.push({ id: one.id, rid });
    };
    await send("", "before-the-kill");
    await untilFollowed();
    const before = await readHistory(sql, one.id);
    await sql.begin(async (tx) => {
      // Its status cannot change. Pings are answered all the same, also those that arrive while it is to change. Sweeps
      // leave it out: one that had locked the heartbeat would make its pings wait.
      await tx`select from monitor_states where monitor_id = ${one.id} for update`;
      for (const [kind, rid] of [
        ["/fail", "failed"],
        ["", "recovered"],
        ["/3", "failed-again"],
      ] as const) {
        await send(kind, rid);
      }
      await plane.end("SIGKILL");
    });
    expect((await readHistory(sql, one.id)).changes).toEqual(before.changes);
    plane = await startControlPlaneProcess(url);
    await untilFollowed();
    const after = await readHistory(sql, one.id);
    const times = after.pings.slice(-3).map(({ receivedAt }) => receivedAt);
    expect(after.status).toBe("down");
    expect(after.changes.slice(before.changes.length)).toEqual([
      { status: "down", at: times[0] },
      { status: "up", at: times[1] },
      { status: "down", at: times[2] },
    ]);
    expect(findingsOf({ ...after, answered: answered.map(({ rid }) => rid) })).toEqual([]);
  });

  it("are in the database after a replica was stopped, and no other ping got more than a 503", async () => {
    const pings = stream();
    await pings.until(500);
    expect(await plane.end("SIGTERM")).toBe(0);
    await pings.end();
    // A replica that stops makes the statuses follow its pings first.
    expect(await findings(pings.answered)).toEqual([]);
    expect([...pings.statuses.keys()].filter((status) => ![200, 503, 0].includes(status))).toEqual([]);
    plane = await startControlPlaneProcess(url);
  });

  it("are in the database after it was stopped and started, and those that came meanwhile waited for it", async () => {
    const pings = stream();
    await pings.until(300);
    const { port } = cluster.server;
    await cluster.stop();
    isAway = true;
    // Each sender then waits, or has waited.
    await expect.poll(pings.sentWhileAway).toBeGreaterThanOrEqual(SENDERS);
    await startDatabase(port);
    isAway = false;
    await pings.until(500);
    await pings.end();
    await untilFollowed();
    // What was committed while the connection broke is recorded again.
    const repeats = /^ping r\d+ is recorded 2 times$/;
    expect((await findings(pings.answered)).filter((finding) => !repeats.test(finding))).toEqual([]);
    expect([...pings.statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(pings.answered.filter(({ hasWaited }) => hasWaited).length).toBeGreaterThan(0);
    expect(await plane.end("SIGTERM")).toBe(0);
    plane = await startControlPlaneProcess(url);
  });
});
