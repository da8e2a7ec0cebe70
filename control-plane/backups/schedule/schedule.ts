import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { describeError } from "#shared/contracts/error-code.ts";
import type { RunBackup } from "#control-plane/backups/schedule/runner.ts";
import {
  deleteBackup,
  endBackup,
  insertBackup,
  lockSchedule,
  readNewest,
  type BackupRow,
} from "#control-plane/backups/schedule/store.ts";
import type { App } from "#control-plane/core/app.ts";
import type { BackupConfig } from "#control-plane/core/config.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { parseCron, type CronSchedule } from "#control-plane/watching/heartbeats/cron.ts";

/** Backups by themselves. */
export interface BackupSchedule {
  /** Says what is wrong with the newest backup, as sentences for the operator; null: nothing, or there is no schedule. */
  findTrouble(sql: Queryable, now: Date): Promise<string | null>;
  /** Makes a backup if one is due and no other replica makes it. */
  readonly refresh: () => Promise<void>;
  /** Ends a backup that runs: nothing of it is left. */
  stop(): Promise<void>;
}

/** Dependencies of backups by schedule. */
interface ScheduleDeps extends Pick<App, "sql" | "clock" | "timers"> {
  readonly log: Pick<Logger, "debug" | "info" | "warn" | "error">;
  readonly registry: Registry;
  readonly installation: string;
  readonly backups: BackupConfig;
  readonly runBackup: RunBackup;
}

/** How often a replica looks whether one is due. */
const EVERY_MS = 5_000;

/**
 * Opens the schedule. A time at which no replica ran is made up for, once. The backup itself is made by a process of its own,
 * so that requests do not wait for it.
 */
export function openSchedule(deps: ScheduleDeps): BackupSchedule {
  const { sql, clock, log, timers, registry, backups } = deps;
  const zone = openTimeZone("UTC");
  const cron = backups.schedule === null || zone === null ? null : parseCron(backups.schedule, zone);
  const { directory } = backups;
  if (cron === null || directory === null) {
    return {
      findTrouble: () => Promise.resolve(null),
      refresh: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    };
  }
  registerAge(registry, async () => {
    const { good } = await readNewest(sql);
    return good === null ? null : (clock.now().getTime() - good.startedAt.getTime()) / 1_000;
  });
  const stopping = new AbortController();

  async function refresh(): Promise<void> {
    if (stopping.signal.aborted || cron === null || directory === null) return;
    const begun = await transact(sql, async (tx) => {
      await lockSchedule(tx);
      const now = clock.now();
      const newest = await readNewest(tx);
      if (newest.begun !== null && cron.nextRun(newest.begun.startedAt.getTime()) > now.getTime()) return null;
      const file = nameOf(deps, now);
      return { id: await insertBackup(tx, file, now), file: join(directory, file) };
    });
    if (begun === null) return;
    const { status, line } = await deps.runBackup(begun.file, stopping.signal);
    // It begins again at the next start.
    if (status !== 0 && stopping.signal.aborted) return deleteBackup(sql, begun.id);
    const error = status === 0 ? null : line;
    const bytes = error === null ? (await stat(begun.file)).size : null;
    await endBackup(sql, begun.id, { bytes, error, now: clock.now() });
    if (error !== null) return log.warn({ file: begun.file, error }, "backup failed");
    log.info({ file: begun.file, bytes }, "backup written");
    await removeOld(deps, directory).catch((failure: unknown) =>
      log.warn({ directory, error: describeError(failure) }, "old backups were not removed"),
    );
  }

  let running: Promise<void> = Promise.resolve();
  const upkeep = startUpkeep({ everyMs: EVERY_MS, round: () => (running = refresh()), name: "backup", log, timers });
  return {
    findTrouble: async (on, now) => explainTrouble(await readNewest(on), cron, now),
    refresh,
    async stop() {
      upkeep.stop();
      stopping.abort();
      await running.catch(() => {});
    },
  };
}

/** Says what is wrong with the newest backups; null: nothing. Pure. */
function explainTrouble(
  { begun, ended, good }: Readonly<Record<"begun" | "ended" | "good", BackupRow | null>>,
  cron: CronSchedule,
  now: Date,
): string | null {
  const newest = good === null ? "There is none." : `The newest one is of ${good.startedAt.toISOString()}.`;
  // A replica that was killed leaves one that never ends: the next one shows it.
  const failed = ended?.error ?? null;
  if (failed !== null) return `The last backup failed: ${failed.replace(/\.$/, "")}. ${newest}`;
  if (begun === null) return null;
  const next = cron.nextRun(now.getTime());
  const period = cron.nextRun(next) - next;
  const since = good?.startedAt ?? begun.startedAt;
  if (now.getTime() - since.getTime() < 2 * period) return null;
  return `No backup is younger than two periods of the schedule. ${newest}`;
}

const NAME = /^vantage-([0-9A-Za-z]{12})-\d{8}T\d{6}Z\.tar(?:\.age)?(?:\.[0-9a-f]{12}\.partial)?$/;

function nameOf({ installation, backups }: Pick<ScheduleDeps, "installation" | "backups">, now: Date): string {
  const at = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  return `vantage-${installation}-${at}Z.tar${backups.passphraseFile === null ? "" : ".age"}`;
}

/** Removes the oldest backups of this installation, and what killed ones have left: the names are in the order of time. */
async function removeOld(
  { installation, backups }: Pick<ScheduleDeps, "installation" | "backups">,
  directory: string,
): Promise<void> {
  const ours = (await readdir(directory)).filter((name) => NAME.exec(name)?.[1] === installation).toSorted();
  const isPartial = (name: string): boolean => name.endsWith(".partial");
  const old = [...ours.filter(isPartial), ...ours.filter((name) => !isPartial(name)).slice(0, -backups.keep)];
  for (const name of old) await rm(join(directory, name), { force: true });
}

/** Registers the age of the newest backup, the same on every replica. Without one, and without a database, it has no value. */
function registerAge(registry: Registry, readAge: () => Promise<number | null>): void {
  registry.registerMetric(
    new Gauge({
      name: "vantage_backup_age_seconds",
      help: "Seconds since the snapshot of the newest good backup by schedule",
      registers: [],
      async collect() {
        const age = await readAge().catch(() => null);
        this.reset();
        if (age !== null) this.set(age);
      },
    }),
  );
}
