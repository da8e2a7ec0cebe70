import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { checkMonitors, type MonitorVerdict } from "#test/fleet/monitors/check.ts";
import { startFaultyProxy, type FaultyProxy } from "#test/support/faulty-proxy.ts";
import { readDatabase, type MadeMonitor } from "#test/fleet/monitors/read.ts";
import type { Action, MonitorHistory } from "#test/fleet/monitors/records.ts";
import { createScript } from "#test/fleet/monitors/script.ts";
import { startWatchers, targetUrl } from "#test/fleet/monitors/watcher.ts";
import { createDice, sample, type Dice } from "#test/fleet/random.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { callEnroll, fetchAuthority, identityOf, makeJoinToken, makeRequest } from "#test/support/enrol.ts";
import { freePort } from "#test/support/free-port.ts";
import { shortenIntervals } from "#test/support/shorten-intervals.ts";

/** Limits high enough to have no effect here. */
const PLANS = {
  captain: { monitors: 1_000_000, requests_per_minute: 1_000_000_000, requests_per_day: 1_000_000_000 },
};
const REGIONS = ["r1", "r2", "r3"];
const RECIPIENTS = Array.from({ length: 40 }, (_, n) => `on-call-${n}@example.com`);
/** Rows of one import, so that its body stays below the limit. */
const IMPORTED = 1_000;
const POSTGRES = { track_commit_timestamp: "on", max_connections: "300", full_page_writes: "off" };
const ATTACH_MS = 60_000;
const DELIVER_MS = 240_000;

/** Settings of a run. */
export interface WorldOptions {
  readonly seed: number;
  readonly monitors: number;
  readonly replicas: number;
  /** Locations of each monitor: as many of the three, or mixed (one to three). */
  readonly locations: 1 | "mixed";
  /** Interval of the schedule. Below a minute, which no plan allows, a trigger shortens it in the database. */
  readonly intervalSeconds: number;
  /** Share of answers that name a fault of the probe. */
  readonly probeFaults?: number;
  /** More environment of a replica. */
  readonly env?: (replica: number) => Readonly<Record<string, string>>;
}

/** Replicas, a database server, agents and monitors of one run. */
export interface World {
  readonly options: WorldOptions;
  readonly dice: Dice;
  readonly sql: Sql;
  readonly proxy: FaultyProxy;
  readonly monitors: readonly MadeMonitor[];
  readonly actions: Action[];
  /** Ends a replica with SIGKILL. */
  kill(replica: number): Promise<void>;
  /** Starts a replica again at its old ports. */
  start(replica: number): Promise<void>;
  /** Waits until every agent is attached to every running replica. */
  untilAttached(): Promise<void>;
  /** Stops the database server and starts it again, on its old port. */
  restartDatabase(): Promise<void>;
  /** Writes through the API of any replica until it is answered, and notes it. readdress: other people are mailed. */
  act(kind: Action["kind"], monitor: MadeMonitor): Promise<void>;
  /** Waits until nothing changes any more, and checks what was left behind. */
  judge(): Promise<{ readonly verdict: MonitorVerdict; readonly history: MonitorHistory }>;
  end(): Promise<void>;
}

/** Starts everything and creates the monitors. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { seed, replicas: count, intervalSeconds } = options;
  const folder = mkdtempSync(join(tmpdir(), "vantage-watch-"));
  // Under root the database runs as nobody, which must be able to enter.
  chmodSync(folder, 0o711);
  const root = join(folder, "postgres");
  const plans = join(folder, "plans.json");
  writeFileSync(plans, JSON.stringify(PLANS));
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const planes: (ControlPlaneProcess | null)[] = [];
  const end = async () => {
    const crashed = planes.find((plane) => plane !== null && !isRunning(plane.pid));
    for (const close of closers.splice(0).toReversed()) await close();
    if (crashed) throw new Error(`a replica ended by itself: ${crashed.log().slice(-3_000)}`);
  };
  try {
    const started = await startCluster({ root, settings: POSTGRES });
    if (!started.ok) throw new Error(started.line);
    let { cluster } = started;
    closers.push(() => cluster.stop());
    await cluster.createDatabase("vantage");
    const { port } = cluster.server;
    const proxy = await startFaultyProxy(port);
    closers.push(() => proxy.close());
    const sink = await startMailSink();
    closers.push(() => sink.close());
    const url = new URL(cluster.url("vantage"));
    url.port = String(proxy.port);

    const ports = await Promise.all(
      Array.from({ length: count }, async () => ({ http: await freePort(), grpc: await freePort() })),
    );
    const start = async (replica: number) => {
      const settings = {
        VANTAGE_PLANS: plans,
        VANTAGE_SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
        VANTAGE_MAIL_FROM: "alerts@example.com",
        ...options.env?.(replica),
      };
      const own = ports[replica];
      planes[replica] = await startControlPlaneProcess(url.href, {
        settings,
        ...(own === undefined ? {} : { ports: own }),
      });
    };
    closers.push(() => Promise.all(planes.filter((plane) => plane !== null).map((plane) => plane.end("SIGKILL"))));
    for (const replica of ports.keys()) await start(replica);
    const [first] = planes;
    if (first === undefined || first === null) throw new Error("no replica runs");
    const sql = connect(cluster.url("vantage"), { name: "judge", connections: 2, statementTimeoutMs: 300_000 });
    closers.push(() => sql.end({ timeout: 5 }));

    const dice = createDice(seed);
    const { probeFaults } = options;
    const scale = Math.max(intervalSeconds / 60, 0.25);
    const script = createScript({ seed, startAt: Date.now(), scale, probeFaults });
    const members = await enrolAll(first);
    const watchers = startWatchers(members, {
      ports: ports.map(({ grpc }) => grpc),
      script,
      dice: createDice(seed + 1),
    });
    closers.push(() => watchers.stop());
    const untilAttached = () => {
      const wanted = planes.filter((plane) => plane !== null).length * REGIONS.length;
      return until("every agent is attached", ATTACH_MS, () => watchers.attached() >= wanted);
    };
    await untilAttached();
    const key = await first.createKey("captain");
    await sql`
      insert into mail_recipients (account_id, email, created_at, confirmed_at, wants_confirmation)
      select k.account_id, email, now(), now(), false from unnest(${RECIPIENTS}::text[]) as email
      cross join (select account_id from keys order by id desc limit 1) as k`;
    if (intervalSeconds < 60) for (const statement of shortenIntervals(intervalSeconds)) await sql.unsafe(statement);
    const monitors = await createMonitors(first, key, options, dice);
    const versions = new Map<number, number>();
    const actions: Action[] = [];
    const deleted = new Map<number, number>();

    return {
      options,
      dice,
      sql,
      proxy,
      monitors,
      actions,
      start,
      untilAttached,
      async kill(replica) {
        const plane = planes[replica];
        planes[replica] = null;
        await plane?.end("SIGKILL");
      },
      async restartDatabase() {
        await cluster.stop();
        const again = await startCluster({ root, settings: POSTGRES, port });
        if (!again.ok) throw new Error(again.line);
        ({ cluster } = again);
      },
      async act(kind, { id: monitorId, number }) {
        const recipients = kind === "readdress" ? sample(dice, RECIPIENTS, Math.floor(dice() * 3)) : undefined;
        const version = (versions.get(monitorId) ?? 1) + (kind === "retarget" ? 1 : 0);
        versions.set(monitorId, version);
        for (;;) {
          const askedAt = Date.now();
          const running = planes.filter((plane) => plane !== null);
          const answer = await running[Math.floor(dice() * running.length)]
            ?.call(`/api/v4/monitors?id=${monitorId}`, {
              key,
              method: kind === "delete" ? "DELETE" : "PUT",
              ...(kind === "delete" ? {} : { body: changeOf(kind, { number, version, recipients }) }),
              signal: AbortSignal.timeout(20_000),
            })
            .catch(() => null);
          // 404 follows a deletion whose answer was lost.
          const isDone = answer?.status === 200 || (kind === "delete" && answer?.status === 404);
          const answeredAt = isDone ? Date.now() : null;
          const named = recipients === undefined ? {} : { recipients };
          actions.push({ kind, monitorId, version, askedAt, answeredAt, ...named });
          // Rounded up: commits are read in microseconds, and an answer can come in the millisecond of its commit.
          if (isDone && kind === "delete") deleted.set(monitorId, Date.now() + 1);
          if (isDone) return;
          await sleep(500);
        }
      },
      async judge() {
        script.calm(Date.now());
        // Two checks of each location, their confirmations, and everything that is late.
        await sleep(2 * intervalSeconds * 1_000 + 15_000);
        await until("every mail is sent", DELIVER_MS, () => isDelivered(sql)).catch(() => {});
        const made = monitors.map((monitor) => ({ ...monitor, deletedAt: deleted.get(monitor.id) ?? null }));
        const stored = await readDatabase(sql, made);
        const history: MonitorHistory = {
          ...stored,
          deadlocks: [`${root}/postgres.log.1`, `${root}/postgres.log`].flatMap(readDeadlocks),
          mails: sink.mails.map((mail) => ({
            deliveryId: Number(/\.(\d+)@/.exec(mail.header("message-id") ?? "")?.[1]),
          })),
          actions,
          answers: watchers.answers,
          truth: new Map(
            made.map(({ id, number }) => [id, script.truth({ number, version: versions.get(id) ?? 1 })] as const),
          ),
        };
        return { verdict: checkMonitors(history), history };
      },
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Returns what a log of PostgreSQL says of each deadlock: the line of the error with its detail, context and statement. */
function readDeadlocks(log: string): readonly string[] {
  if (!existsSync(log)) return [];
  const entries = readFileSync(log, "utf8").split(/^(?=.{1,100} (?:LOG|WARNING|ERROR|FATAL|PANIC): )/m);
  return entries.filter((entry) => entry.includes("ERROR:  deadlock detected"));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function enrolAll(plane: ControlPlaneProcess) {
  return Promise.all(
    REGIONS.map(async (region) => {
      const token = await makeJoinToken(plane, { region, ttl_seconds: 3_600 });
      const authority = await fetchAuthority(plane.grpcPort, token);
      const request = await makeRequest();
      return { region, identity: identityOf(await callEnroll(plane.grpcPort, authority, token, request.der), request) };
    }),
  );
}

async function createMonitors(
  plane: ControlPlaneProcess,
  key: string,
  { monitors: count, locations, intervalSeconds }: WorldOptions,
  dice: Dice,
): Promise<readonly MadeMonitor[]> {
  const rows = Array.from({ length: count }, (_, index) => {
    const chosen = sample(dice, REGIONS, locations === 1 ? 1 : ([1, 2, 3, 3][index % 4] ?? 3));
    const recipients = sample(dice, RECIPIENTS, index % 5 === 0 ? 2 : 1);
    return { number: index + 1, chosen, recipients };
  });
  const made: MadeMonitor[] = [];
  for (let from = 0; from < count; from += IMPORTED) {
    const part = rows.slice(from, from + IMPORTED);
    const document = part.map(({ number, chosen, recipients }) => ({
      name: `Monitor ${number}`,
      url: targetUrl(number, 1),
      interval_minutes: 1,
      timeout_seconds: 5,
      locations: chosen,
      retries: number % 3,
      recovery: number % 7 === 0 ? 2 : 1,
      notify_email: true,
      notify_emails: recipients,
    }));
    const answer = await plane.call("/api/v4/monitors?action=import", {
      key,
      body: { version: 1, monitors: document },
    });
    if (answer.status !== 201) throw new Error(answer.text);
    const { ids } = answer.body.data as { ids: number[] };
    for (const [index, { number, recipients }] of part.entries()) {
      made.push({ id: ids[index] ?? 0, number, recipients, intervalMs: intervalSeconds * 1_000, deletedAt: null });
    }
  }
  return made;
}

function changeOf(
  kind: Action["kind"],
  {
    number,
    version,
    recipients = [],
  }: { readonly number: number; readonly version: number; readonly recipients: readonly string[] | undefined },
): object {
  switch (kind) {
    case "pause":
      return { is_active: false };
    case "resume":
      return { is_active: true };
    case "retarget":
      return { url: targetUrl(number, version) };
    case "readdress":
      return recipients.length === 0 ? { notify_email: false } : { notify_email: true, notify_emails: recipients };
    default:
      return { name: `Monitor ${number} renamed ${Date.now()}` };
  }
}

async function isDelivered(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from deliveries
    where status in ('pending', 'retrying') and held_by is distinct from 'flapping'`;
  return row?.waiting === 0;
}

async function until(what: string, ms: number, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const last = performance.now() + ms;
  while (!(await isTrue())) {
    if (performance.now() > last) throw new Error(`not within ${ms} ms: ${what}`);
    await sleep(200);
  }
}
