// The control plane's process: environment -> config -> replica -> listen -> stop. The only file of the control plane that
// reads the environment, the host's clock and random bytes.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import type { Clock, Random } from "#shared/time/clock.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { createBackupBefore } from "#control-plane/backups/before-migrations.ts";
import { BackupProblem } from "#control-plane/backups/problem.ts";
import { createRunner } from "#control-plane/backups/schedule/runner.ts";
import { openReplica } from "#control-plane/app/replica.ts";
import { readConfig, type Config } from "#control-plane/core/config.ts";
import { isLeftByLostConnection } from "#control-plane/core/database/lost-connection.ts";
import { planConnections } from "#control-plane/checks/descriptors.ts";
import { readBuild, registerBuildInfo } from "#shared/process/build.ts";
import { ENOUGH_DESCRIPTORS, readDescriptorLimit } from "#shared/process/descriptor-limit.ts";
import { createLog } from "#shared/process/log.ts";
import { listenMetrics } from "#shared/process/metrics-listener.ts";
import { loadModulesFile } from "#shared/process/module-files.ts";
import { openOptOutFile } from "#shared/process/opt-out-file.ts";
import { readMasterKey, WrongMasterKey } from "#control-plane/core/secrets/master-key.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { overridePlans } from "#control-plane/core/plans-override.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { readAdminToken } from "#control-plane/core/secrets/admin-token.ts";
import { findCronProblem } from "#control-plane/watching/heartbeats/cron.ts";
import { serve } from "#control-plane/app/server.ts";
import { createUpgradeListener } from "#control-plane/http/upgrading.ts";

const hostClock: Clock = { now: () => new Date(), monotonic: () => performance.now() };
const random: Random = { bytes: (count) => randomBytes(count) };

/** The word with which `up` starts this program for its own database (shared/client/commands/up.ts). */
const EMBEDDED = "embedded";

/** The program that makes backups, without the modules of a service. */
const BACKUPS = fileURLToPath(new URL("backups/main.ts", import.meta.url));

/** Prints one line for the operator and exits with status 1. */
function fail(line: string): never {
  process.stderr.write(`vantage control-plane: ${line}\n`);
  process.exit(1);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message || String("code" in error ? error.code : error.name)}${cause}`.replaceAll(/\s+/g, " ");
}

async function main(config: Config): Promise<void> {
  const command = process.argv[2] ?? "";
  const log = createLog({ level: config.logLevel });
  const upgrade = createUpgradeListener({ config, clock: hostClock, random, log });
  // Nobody else backs the embedded database up before its migrations, which go forward only.
  const backUp = command === EMBEDDED ? createBackupBefore(config, random) : null;
  const applied = await migrate(config.databaseUrl, undefined, {
    async prepare(start) {
      if (command !== "migrate") await upgrade.open();
      await backUp?.(start);
    },
    report: (progress) => upgrade.report(progress),
  }).catch((error: unknown) => fail(lineOf("the database cannot be used (DATABASE_URL)", error)));
  if (command === "migrate") {
    process.stdout.write(
      applied.applied.length === 0 ? "Nothing to do.\n" : `Applied ${applied.applied.join(", ")}.\n`,
    );
    return;
  }
  const plans = config.plansFile === null ? null : overridePlans(readJson("VANTAGE_PLANS", config.plansFile));
  if (plans !== null && !plans.ok) fail(`VANTAGE_PLANS ${config.plansFile}: ${plans.message}`);
  process.on("uncaughtException", (error) => {
    if (isLeftByLostConnection(error)) {
      log.debug({ err: error }, "a database connection was reset");
      return;
    }
    log.fatal({ err: error }, "control plane ends after an unexpected error");
    log.flush(() => process.exit(1));
  });
  const modules = config.blackboxConfig === null ? null : loadModulesFile(config.blackboxConfig);
  if (modules?.ok === false) fail(modules.lines.join("\nvantage control-plane: "));
  const optOut = openOptOutFile(config.optOutFile, (line) => log.warn(line));
  if (!optOut.ok) fail(optOut.line);
  const replica = await openReplica({
    config,
    ...readSecrets(config),
    plans: plans?.plans ?? BUILT_IN_PLANS,
    hostClock,
    random,
    log,
  }).catch((error: unknown) => fail(lineOf("the database cannot be used (DATABASE_URL)", error)));
  const { schedule } = config.backups;
  const wrong = schedule === null ? null : findCronProblem(schedule);
  if (wrong !== null) fail(`VANTAGE_BACKUP_SCHEDULE ${wrong}`);
  const build = readBuild();
  registerBuildInfo(replica.metrics.registry, build);
  const descriptors = readDescriptorLimit();
  const connections = planConnections(descriptors);
  if (descriptors < ENOUGH_DESCRIPTORS) {
    log.warn(
      { descriptors, ...connections },
      "low limit of open files (ulimit -n): the listeners accept few connections",
    );
  }
  const service = await serve(replica, {
    version: build.version,
    homepage: build.homepage,
    optOut: optOut.optOut,
    operatorModules: modules,
    runBackup: createRunner(BACKUPS, process.execArgv, process.env),
    root: fileURLToPath(new URL("..", import.meta.url)),
    connections,
    beforeListen: () => upgrade.close(),
  }).catch((error: unknown) => fail(`cannot listen: ${reasonOf(error)}`));
  const { address, defaulted } = config.metrics;
  const metrics =
    address === null
      ? null
      : await listenMetrics({ registry: replica.metrics.registry, ...address, orFree: defaulted }).catch(
          (error: unknown) => fail(`VANTAGE_METRICS_ADDR ${formatAddress(address)}: ${reasonOf(error)}`),
        );
  if (metrics !== null && address !== null && address.port !== 0 && metrics.port !== address.port) {
    log.warn({ wanted: address.port, port: metrics.port }, "metrics port is in use; another port was chosen");
  }
  log.info({ ...service.ports, metrics: metrics?.port ?? null, version: build.version }, "control plane listening");

  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return; // Ctrl-C arrives twice: from the terminal and from npm
    stopping = true;
    log.info({ signal }, "control plane stopping");
    await service.leave();
    await service.stop();
    await metrics?.close();
    await replica.close();
    log.flush(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(signal));
}

function readJson(setting: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return fail(`${setting} ${path} cannot be read as JSON: ${reasonOf(error)}`);
  }
}

function readSecrets({ adminToken, masterKey, dataDir }: Config) {
  try {
    return {
      adminToken: readAdminToken(adminToken, dataDir, random),
      masterKey: readMasterKey(masterKey, dataDir, random),
    };
  } catch (error) {
    return fail(lineOf(`VANTAGE_DATA_DIR ${dataDir} cannot be used`, error));
  }
}

/** Returns the message of a WrongMasterKey or a BackupProblem, or else the heading with the reason of the error. */
function lineOf(heading: string, error: unknown): string {
  return error instanceof WrongMasterKey || error instanceof BackupProblem
    ? error.message
    : `${heading}: ${reasonOf(error)}`;
}

// NODE_OPTIONS accepts neither of these flags. By default V8 allocates objects in the old generation at once if most of
// their kind survived a busy moment. They keep the young objects alive to which they refer, until the next full
// collection: with 1,000 checks of monitors a second all 9 MB that they need. And full collections, which delay requests
// by 40 ms, begin when the heap has grown by 10 to 300 %, depending on speeds that vary: here always by 300 %.
setFlagsFromString("--no-allocation-site-pretenuring");
setFlagsFromString("--heap-growing-percent=300");
const read = readConfig(process.env);
if (read.ok) await main(read.config);
else fail(read.line);
