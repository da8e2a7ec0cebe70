// Entry point of the agent: environment -> config -> state -> network -> attach -> drain. With the exporter's, the only
// file of the agent that reads the environment, the host's clock and random numbers.
import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import { createEgress } from "#shared/internet/egress.ts";
import { readBuild, type Build } from "#shared/process/build.ts";
import { browserAccount, findChromium, searchPathOf, whyNoSandbox } from "#shared/process/chromium.ts";
import { createLog, gather } from "#shared/process/log.ts";
import { openOptOutFile, type OptOutFile } from "#shared/process/opt-out-file.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { createRedact } from "#shared/text/redact.ts";
import type { CanaryOptions } from "#probe-agent/attachment/canaries.ts";
import { buildHello, hasGlobalIpv6 } from "#probe-agent/attachment/hello.ts";
import { keepLog } from "#probe-agent/attachment/kept-log.ts";
import { serveControlPlane } from "#probe-agent/attachment/serve.ts";
import { createShutdown } from "#probe-agent/attachment/shutdown.ts";
import { readConfig, type Config } from "#probe-agent/config.ts";
import { openData } from "#probe-agent/data/open.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";
import type { Exporter } from "#probe-agent/exporter/server/start.ts";
import { createLoopWatch } from "#probe-agent/loop-watch.ts";
import { openMembership } from "#probe-agent/membership/membership.ts";
import { openState, type AgentState } from "#probe-agent/membership/state-folder.ts";
import { openMetrics } from "#probe-agent/metrics/open.ts";
import type { NetDeps } from "#probe-agent/net/create.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { userAgent } from "#shared/process/user-agent.ts";
import type { NetFactory } from "#probe-agent/run-job.ts";

const clock: Clock = { now: () => new Date(), monotonic: () => performance.now() };
const random: Random = { bytes: (count) => randomBytes(count) };

/** Maximum wait for running jobs when the agent ends, in milliseconds. */
const DRAIN_MS = 30_000;
/**
 * The ICMP process ends after this time without a job, in milliseconds: it takes 40 MB, and its start 0.3 s of processor
 * time. Longer than the interval of a monitor that runs every minute.
 */
const ICMP_SLEEP_MS = 90_000;
/** Time for the DNS queries of one self-test, in milliseconds. */
const SELF_TEST_MS = 2_000;

type Warn = (line: string) => void;

function fail(line: string): never {
  process.stderr.write(`vantage agent: ${line}\n`);
  process.exit(1);
}

async function main(config: Config): Promise<void> {
  const { psiKey } = config.sources;
  const keptLog = keepLog(gather(1), createRedact(psiKey === null ? [] : [psiKey]));
  const log = createLog({ level: config.logLevel, destination: keptLog }).child({ region: config.place.region });
  const warn: Warn = (line) => log.warn(line);
  const files = openFiles(config, warn);
  process.on("exit", () => files.state.release());
  // Enrolment may wait indefinitely, and nothing runs yet that has to finish.
  let onSignal = (_signal: string): void => process.exit(0);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => onSignal(signal));

  const build = readBuild();
  const opened = await openMetrics(config.metrics, build, warn);
  if (!opened.ok) fail(opened.line);
  const { metrics, listener } = opened;
  const opening = openMembership({
    stateDir: files.state.folder,
    region: config.place.region,
    joinToken: config.joinToken,
    joinTokenFile: config.joinTokenFile,
    addresses: config.controlPlane,
    random,
    log,
  });
  const icmpHost = startIcmpHost({
    clock,
    log: warn,
    onRestart: () => metrics.icmpRestarted(),
    // The exporter's probes measure their whole time, which must not contain a start.
    ...(config.exporter.addresses.length > 0 ? {} : { sleepAfterMs: ICMP_SLEEP_MS }),
  });
  const raw = await icmpHost.ready();
  const chromium = findBrowser(config.chromium, warn);
  const { createJobNet, selfTestDns } = createNetwork(config, { files, build, icmpHost, chromium, warn });
  // Prometheus is served while no control plane can be reached, too.
  const exporter = await openExporter(config, { files, build, icmpHost, warn, log });
  const entered = await opening;
  if (!entered.ok) fail(entered.line);
  const { membership } = entered;

  const ipv6 = hasGlobalIpv6(Object.values(networkInterfaces()).flat());
  const hello = buildHello(config, build.version, { raw, ipv6, browser: chromium !== null });
  const service = serveControlPlane({
    config,
    membership,
    hello,
    createNet: createJobNet,
    selfTestDns,
    rawSockets: () => icmpHost.capabilities(),
    clock,
    loop: createLoopWatch(clock),
    random,
    metrics,
    log,
    onAttached: () => files.state.noteAttached(build.version),
    logLines: () => keptLog.lines(),
    onRefused: fail,
    onDrain: () => end("drain"),
  });
  const shutDown = createShutdown({
    drain: () => service.drain(),
    drainMs: DRAIN_MS,
    running: () => service.running(),
    close: () => Promise.all([service.stop(), exporter?.close(), icmpHost.stop(), listener?.close()]),
    log,
  });
  const end = (reason: string) => void shutDown(reason).then(() => log.flush(() => process.exit(0)));
  onSignal = end;
  const { agentId } = membership.identity();
  log.info({ agent: agentId, capabilities: hello.capabilities, metrics: listener?.port ?? null }, "agent started");
}

/** Starts the exporter where it has listeners; null: it has none. Exits the process on a fault of its files. */
async function openExporter(
  { exporter: config, contactUrl }: Config,
  parts: Pick<NetworkParts, "files" | "build" | "icmpHost" | "warn"> & { readonly log: Logger },
): Promise<Exporter | null> {
  if (config.addresses.length === 0) return null;
  const { files, build, icmpHost, warn, log } = parts;
  const { startExporter } = await import("#probe-agent/exporter/server/start.ts");
  const started = await startExporter({
    config,
    clock,
    random,
    optOut: files.optOut,
    icmpHost,
    userAgent: userAgent(build.version, contactUrl ?? build.homepage),
    proxyEnvironment: process.env,
    build,
    warn,
    fault: (error) => log.error({ err: error }, "a request of the exporter failed"),
  });
  if (!started.ok) fail(started.lines.join("\n"));
  log.info({ ports: started.exporter.ports }, "exporter started");
  return started.exporter;
}

interface AgentFiles extends Pick<NetDeps, "data" | "trustAnchors"> {
  readonly optOut: OptOutFile;
  readonly state: AgentState;
}

/** Reads the operator's files and locks the state folder. Exits the process on a fault. */
function openFiles(config: Config, warn: Warn): AgentFiles {
  const anchors = readTrustAnchors(config.files.trustAnchors);
  if (!anchors.ok) fail(anchors.fault);
  const data = openData(config, warn);
  if (!data.ok) fail(data.line);
  const optOut = openOptOutFile(config.optOutFile, warn);
  if (!optOut.ok) fail(optOut.line);
  const state = openState(config.stateDir, process.pid);
  if (!state.ok) fail(state.line);
  return { data: data.data, trustAnchors: anchors.anchors, optOut: optOut.optOut, state: state.state };
}

/** Returns the path of the Chromium to run; null if there is none that may run. */
function findBrowser(configured: string | null, warn: Warn): string | null {
  const searchPath = searchPathOf(process.env["PATH"]);
  const chromium = findChromium(configured, searchPath);
  if (chromium === null && configured !== null) warn(`VANTAGE_CHROMIUM ${configured} is not an executable file`);
  const why = chromium === null ? null : whyNoSandbox(chromium, browserAccount(), searchPath);
  if (why === null) return chromium;
  warn(`the agent has no capability browser. Chromium is not used: ${why}`);
  return null;
}

interface NetworkParts {
  readonly files: AgentFiles;
  readonly build: Build;
  readonly icmpHost: IcmpHost;
  readonly chromium: string | null;
  readonly warn: Warn;
}

interface Network {
  readonly createJobNet: NetFactory;
  readonly selfTestDns: CanaryOptions["dns"];
}

/**
 * Creates the network of the jobs and the DNS client of the self-test. An agent without jobs does not load the code of
 * their network, nor that of tools (implementations.ts): it would take 40 MB.
 */
function createNetwork(config: Config, { files, build, icmpHost, chromium, warn }: NetworkParts): Network {
  const egress = createEgress(config.allow, files.optOut);
  const dnsServers = (config.dnsServers ?? []).map(formatAddress);
  const shared = {
    clock,
    random,
    egress,
    icmpHost,
    userAgent: userAgent(build.version, config.contactUrl ?? build.homepage),
  };
  const load = async () => {
    const { createNet } = await import("#probe-agent/net/create.ts");
    const { createBlackbox } = await import("#probe-agent/exporter/blackbox-port.ts");
    return createNet({
      ...shared,
      dnsServers,
      blackbox: createBlackbox({ ...shared, proxyEnvironment: process.env, roots: null }),
      services: config.sources,
      data: files.data,
      trustAnchors: files.trustAnchors,
      ...(chromium === null ? {} : { browser: { executable: chromium, slots: config.browserSlots, log: warn } }),
    });
  };
  let loading: ReturnType<typeof load> | undefined;
  const createJobNet: NetFactory = async (...job) => (await (loading ??= load()))(...job);
  const dnsFor = createDns({ servers: dnsServers, egress, clock, random });
  const selfTestDns = () =>
    dnsFor({
      signal: AbortSignal.timeout(SELF_TEST_MS),
      deadline: clock.monotonic() + SELF_TEST_MS,
      now: () => clock.now(),
    });
  return { createJobNet, selfTestDns };
}

// A full garbage collection starts when the heap has grown by 60 %. By default V8 decides from the speeds of allocation
// and collection, and settles at five full collections a second while pages are checked, because their octets count as
// heap. With 60 %, 720 pages by 8 tools take 3 % less time and 390 MB; with 100 %, 10 % less time and 415 MB.
// NODE_OPTIONS does not accept this flag.
setFlagsFromString("--heap-growing-percent=60");
const read = readConfig(process.env);
if (read.ok) await main(read.config);
else fail(read.line);
