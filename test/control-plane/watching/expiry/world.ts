import { pino } from "pino";
import { Registry } from "prom-client";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import { createAccounts } from "#control-plane/accounts/accounts.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import type { ExpiryEventData } from "#control-plane/notify/events/expiry-event.ts";
import { startExpiry } from "#control-plane/watching/expiry/expiry.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { startLocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { createManualClock, systemClock, systemRandom } from "#test/support/clock.ts";
import type { TestDatabase } from "#test/support/postgres.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { liveTimers } from "#test/support/timers.ts";

/** A day in milliseconds. */
export const DAY_MS = 86_400_000;
/** A minute in milliseconds. */
export const MINUTE_MS = 60_000;

/** Answers the job of an agent: the whole result, or a failure. */
export type Script = (
  tool: string,
  params: Readonly<Record<string, unknown>>,
) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** An event as its receivers see it. */
export interface SeenEvent {
  readonly type: string;
  readonly data: ExpiryEventData;
}

type Expiry = ReturnType<typeof startExpiry>;

/** One replica of the watch, without timers. */
export interface Replica extends Expiry {
  /** Returns the sum of a counter. */
  count(metric: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

/** Replicas of the watch on one database, with an agent that a test scripts and a clock that it moves. */
export interface ExpiryWorld {
  readonly sql: Sql;
  readonly now: () => Date;
  readonly accountId: number;
  /** Jobs that the agents got, as "tool target". */
  readonly asked: string[];
  answer(script: Script): void;
  advance(ms: number): void;
  /** Disconnects the only agent, until it joins again. */
  leave(): void;
  join(): void;
  openReplica(): Replica;
  addMonitors(
    monitors: readonly { readonly url: string; readonly checkType: CheckType }[],
    settings?: Partial<MonitorSettings>,
  ): Promise<readonly number[]>;
  /** Returns the events of a monitor, the oldest first. */
  events(monitorId: number): Promise<readonly SeenEvent[]>;
  /** Returns the types of the events of a monitor, with their thresholds. */
  types(monitorId: number): Promise<readonly string[]>;
  /** Opens a maintenance window for monitors, from now on. */
  maintain(monitorIds: readonly number[], durationMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A monitor's check that agents run for looks, as a successful outcome. */
export function fullResult(result: unknown): Outcome<unknown> {
  const rest = { verdict: "up", response_ms: 1, http_status: null, fault: null, elapsed_ms: 1 };
  return ok({ ...rest, certificate_fingerprint: null, whole: result });
}

/** A host that does not answer. */
export const SILENT = failed("connect", "target", "timeout", "no answer");

/** Opens a world on an empty database, with a clock at `start`. Call `close` in afterAll, which drops the database. */
export async function openExpiryWorld(database: TestDatabase, start: Date): Promise<ExpiryWorld> {
  const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 30_000 });
  const clock = createManualClock(start);
  const accounts = createAccounts(sql, clock);
  const account = await accounts.create(sql, { email: "owner@example.com", plan: "captain" });
  if (account === null) throw new Error("no account");
  const hub = startLocalHub();
  const asked: string[] = [];
  let script: Script = () => SILENT;
  const work = ({ tool, params }: Job): ReturnType<Script> => {
    const parsed = JSON.parse(params) as Readonly<Record<string, unknown>>;
    asked.push(`${tool} ${String(parsed["host"] ?? parsed["domain"])}`);
    return script(tool, parsed);
  };
  const attach = () => {
    const attached = attachAgent(hub.hub, helloOf("eu-west", { agentId: "agent-in-eu-west" }), {}, work);
    attached.beat(1_000);
    return attached;
  };
  let agent = attach();
  const beats = setInterval(() => agent.beat(1_000), 500);
  const checks = {
    hub: hub.hub,
    clock: systemClock,
    results: createResultCache(systemClock),
    pacer: createPacer(systemClock),
  };
  const replicas: Expiry[] = [];
  const events = async (monitorId: number): Promise<readonly SeenEvent[]> => {
    const rows = await sql<{ body: string }[]>`
      select body from events where monitor_id = ${monitorId} order by created_at, type`;
    return rows.map(({ body }) => JSON.parse(body) as SeenEvent);
  };
  return {
    sql,
    now: () => clock.now(),
    accountId: account.id,
    asked,
    answer: (next) => void (script = next),
    advance: (ms) => clock.advance(ms),
    leave: () => agent.cut(),
    join: () => void (agent = attach()),
    openReplica() {
      const registry = new Registry();
      const expiry = startExpiry({
        timers: liveTimers,
        sql,
        checks,
        clock,
        random: systemRandom,
        log: pino({ level: "silent" }),
        registry,
        events: createEvents({ random: systemRandom, sources: [] }),
        everyMs: DAY_MS,
      });
      replicas.push(expiry);
      return {
        ...expiry,
        async count(name, labels = {}) {
          const metric = await registry.getSingleMetric(name)?.get();
          const values = (metric?.values ?? []).filter((value) =>
            Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted),
          );
          return values.reduce((sum, { value }) => sum + value, 0);
        },
      };
    },
    async addMonitors(monitors, settings = {}) {
      return transact(sql, async (tx) => {
        const ids = await reserveIds(tx, monitors.length);
        const rest = { accountId: account.id, intervalMinutes: 1, isActive: true, pausedReason: null, tags: [] };
        const rows = monitors.map((monitor, index) => {
          const id = ids[index] ?? 0;
          const options = { ...DEFAULT_SETTINGS, locations: ["eu-west"], ...settings };
          return { ...rest, ...monitor, id, name: `m${id}`, dependsOn: null, settings: options, secrets: null };
        });
        await insertMonitors(tx, rows, clock.now());
        await insertStates(tx, ids);
        return ids;
      });
    },
    events,
    async types(monitorId) {
      const seen = await events(monitorId);
      return seen.map(({ type, data }) => (data.threshold === null ? type : `${type} ${data.threshold}`));
    },
    async maintain(monitorIds, durationMs) {
      const [from, to] = [clock.now(), new Date(clock.now().getTime() + durationMs)];
      await sql`
        with made as (
          insert into maintenance (account_id, title, starts_at, duration_seconds, timezone, is_public, planned_until,
            created_at, updated_at)
          values (${account.id}, 'Work', ${from}, ${durationMs / 1_000}, 'UTC', false, ${to}, ${from}, ${from})
          returning id
        ), scope as (
          insert into maintenance_scopes (maintenance_id, monitor_ids, tags)
          select id, ${[...monitorIds]}::bigint[], '{}' from made returning id, maintenance_id
        )
        insert into maintenance_occurrences (maintenance_id, scope_id, account_id, starts_at, covers_from, ends_at)
        select maintenance_id, id, ${account.id}, ${from}, ${from}, ${to} from scope`;
    },
    async close() {
      await Promise.all(replicas.map((one) => one.stop()));
      clearInterval(beats);
      hub.hub.stop();
      await sql.end();
      await database.drop();
    },
  };
}

/** A certificate as agents describe it. */
export interface ScriptedCertificate {
  /** One character, of which the fingerprint consists. */
  readonly digit: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer?: string;
  readonly subject?: string;
  readonly names?: readonly string[];
  /** Certificates that are sent with it. */
  readonly above?: readonly (ScriptedCertificate & { readonly role: "intermediate" | "root" | "extra" })[];
}

/** Returns the full result of a handshake. */
export function handshakeResult(scripted: ScriptedCertificate) {
  const { names = ["a.example"], above = [] } = scripted;
  const rows = above.map((certificate) => ({ ...rowOf(certificate), role: certificate.role, sent: true }));
  const leaf = { ...rowOf(scripted), role: "leaf", sent: true };
  const root = { ...rowOf({ ...scripted, digit: "0" }), role: "root", sent: false };
  const certificate = { ...rowOf(scripted), san: names };
  return { certificate, chain: [leaf, ...rows, root], trusted: true, trust_error: null };
}

function rowOf({ digit, notBefore, notAfter, issuer = "CN=R1", subject = "CN=a.example" }: ScriptedCertificate) {
  return {
    fingerprint_sha256: digit.repeat(64),
    issuer,
    subject,
    not_before: notBefore.toISOString(),
    not_after: notAfter.toISOString(),
  };
}

/** Returns the whole result of a registry. */
export function registration(over: Readonly<Record<string, unknown>> = {}) {
  const base = { kind: "domain", registered: true, registrar: { name: "Registrar" }, source: "rdap" };
  return { ...base, created: "2020-01-01T00:00:00Z", expires: null, status: ["active"], ...over };
}
