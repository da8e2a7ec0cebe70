// Entry point of `vantage exporter`: environment -> config -> files -> listeners. Beside the agent's, the only file that
// reads the environment, the host's clock and random numbers.
import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { readBuild } from "#shared/process/build.ts";
import { createLog } from "#shared/process/log.ts";
import { openOptOutFile } from "#shared/process/opt-out-file.ts";
import { userAgent } from "#shared/process/user-agent.ts";
import type { Clock, Random } from "#shared/time/clock.ts";
import { readConfig, type Config } from "#probe-agent/config.ts";
import { loadModules } from "#probe-agent/exporter/server/modules.ts";
import { startExporter } from "#probe-agent/exporter/server/start.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";

const clock: Clock = { now: () => new Date(), monotonic: () => performance.now() };
const random: Random = { bytes: (count) => randomBytes(count) };

/** Listener of an exporter that is given none, as blackbox_exporter's, on this host alone. */
const DEFAULT_ADDRESS = { host: "127.0.0.1", port: 9115 };

function fail(lines: readonly string[]): never {
  for (const line of lines) process.stderr.write(`vantage exporter: ${line}\n`);
  process.exit(1);
}

async function main({ exporter, ...config }: Config): Promise<void> {
  const log = createLog({ level: config.logLevel });
  const warn = (line: string): void => log.warn(line);
  const optOut = openOptOutFile(config.optOutFile, warn);
  if (!optOut.ok) fail([optOut.line]);
  const build = readBuild();
  const icmpHost = startIcmpHost({ clock, log: warn });
  // A probe of ICMP before it is ready would fail.
  await icmpHost.ready();
  const started = await startExporter({
    config: exporter.addresses.length === 0 ? { ...exporter, addresses: [DEFAULT_ADDRESS] } : exporter,
    clock,
    random,
    optOut: optOut.optOut,
    icmpHost,
    userAgent: userAgent(build.version, config.contactUrl ?? build.homepage),
    proxyEnvironment: process.env,
    build,
    warn,
    fault: (error) => log.error({ err: error }, "a request failed"),
  });
  if (!started.ok) fail(started.lines);
  const { exporter: running } = started;
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    void Promise.all([running.close(), icmpHost.stop()]).then(() => log.flush(() => process.exit(0)));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  process.on("SIGHUP", () => running.reload());
  log.info({ ports: running.ports }, "Listening on");
}

/** Checks the file of modules and ends the process: 0 if it can be used. */
function check({ exporter }: Config): never {
  const loaded = loadModules(exporter.configFile);
  if (!loaded.ok) fail(loaded.lines);
  process.stdout.write(`${exporter.configFile ?? "built-in modules"}: ${loaded.modules.size} modules can be used\n`);
  process.exit(0);
}

// As in the agent: under load a third less memory at the same rate.
setFlagsFromString("--heap-growing-percent=60");
const read = readConfig(process.env);
if (!read.ok) fail([read.line]);
else if (process.argv[2] === "check") check(read.config);
else await main(read.config);
