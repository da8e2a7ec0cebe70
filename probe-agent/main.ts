// The agent's process: environment -> config -> state -> network -> attach -> drain. The only file of it that touches the
// environment, the host's clock and randomness.
import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { Registry } from "prom-client";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { collectProcessMetrics } from "#shared/process/process-metrics.ts";
import type { Clock, Random } from "#shared/clock.ts";
import { createEgress } from "#shared/egress.ts";
import { readBuild, registerBuildInfo } from "#shared/process/build.ts";
import { createLog } from "#shared/process/log.ts";
import { listenMetrics } from "#shared/process/metrics-listener.ts";
import { openOptOutFile } from "#shared/process/opt-out-file.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { keepAttached } from "#probe-agent/attachment/attachments.ts";
import { createCanaries } from "#probe-agent/attachment/canaries.ts";
import { readConfig, type Config } from "#probe-agent/config.ts";
import { openData } from "#probe-agent/data/open.ts";
import { buildHello } from "#probe-agent/attachment/hello.ts";
import { expiryOf } from "#probe-agent/membership/identity.ts";
import { createInside } from "#probe-agent/attachment/inside-target.ts";
import { createJobPool } from "#probe-agent/attachment/job-pool.ts";
import { startLoopLag } from "#probe-agent/metrics/loop-lag.ts";
import { openMembership } from "#probe-agent/membership/membership.ts";
import { createAgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import { userAgent } from "#probe-agent/net/user-agent.ts";
import { keepRenewed } from "#probe-agent/membership/renewal.ts";
import { startSelfTest } from "#probe-agent/attachment/self-test.ts";
import { openState } from "#probe-agent/membership/state-folder.ts";
import { readTrustAnchors } from "#probe-agent/data/trust-anchors.ts";

const clock: Clock = { now: () => new Date(), monotonic: () => performance.now() };
const random: Random = { bytes: (count) => randomBytes(count) };

/** Jobs under way get so long to finish (decisions 7, Drain). */
const DRAIN_MS = 30_000;
/** One look of the self-test. */
const LOOK_MS = 2_000;
/** OpenSSL's words, by way of grpc-js, where a chain does not lead to the authority. */
const UNTRUSTED = /certificate|self.signed/i;

function fail(line: string): never {
  process.stderr.write(`vantage agent: ${line}\n`);
  process.exit(1);
}

async function main(config: Config): Promise<void> {
  const trusted = readTrustAnchors(config.files.trustAnchors);
  if (!trusted.ok) fail(trusted.fault);
  const log = createLog({ level: config.logLevel }).child({ region: config.place.region });
  const data = openData(config, (line) => log.warn(line));
  if (!data.ok) fail(data.line);
  const opened = openState(config.stateDir, process.pid);
  if (!opened.ok) fail(opened.line);
  const { state } = opened;
  process.on("exit", () => state.release());
  // Enrolling may take for ever; nothing runs yet that would have to finish.
  let onSignal = (_signal: string): void => process.exit(0);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => onSignal(signal));

  const optOut = openOptOutFile(config.optOutFile, (line) => log.warn(line));
  if (!optOut.ok) fail(optOut.line);
  const build = readBuild();
  const { version, homepage } = build;
  const registry = new Registry();
  collectProcessMetrics(registry);
  registerBuildInfo(registry, build);
  const metrics = createAgentMetrics(registry);
  const { address, defaulted } = config.metrics;
  const listener =
    address === null
      ? null
      : await listenMetrics({ registry, ...address, orFree: defaulted }).catch((error: Error) =>
          fail(`VANTAGE_AGENT_METRICS_ADDR ${formatAddress(address)}: ${error.message}`),
        );
  if (listener !== null && address !== null && address.port !== 0 && listener.port !== address.port) {
    log.warn({ wanted: address.port, port: listener.port }, "metrics port in use; took a free one");
  }

  const opening = openMembership({
    stateDir: state.folder,
    region: config.place.region,
    joinToken: config.joinToken,
    joinTokenFile: config.joinTokenFile,
    addresses: config.controlPlane,
    random,
    log,
  });
  const icmpHost = startIcmpHost({
    clock,
    log: (line) => log.warn(line),
    onRestart: () => metrics.icmpRestarted(),
  });
  const raw = await icmpHost.ready();
  const egress = createEgress(config.allow, optOut.optOut);
  const chromium = findChromium(config.chromium, searchPathOf(process.env["PATH"]));
  if (chromium === null && config.chromium !== null) log.warn(`VANTAGE_CHROMIUM ${config.chromium} cannot be run`);
  const dnsServers = (config.dnsServers ?? []).map(formatAddress);
  const createJobNet = createNet({
    clock,
    random,
    egress,
    icmpHost,
    dnsServers,
    userAgent: userAgent(version, config.contactUrl ?? homepage),
    services: config.sources,
    data: data.data,
    trustAnchors: trusted.anchors,
    ...(chromium === null ? {} : { browser: { executable: chromium, log: (line) => log.warn(line) } }),
  });
  const entered = await opening;
  if (!entered.ok) fail(entered.line);
  const { membership } = entered;
  if (chromium !== null && process.getuid?.() === 0) {
    log.warn("Chromium runs without its sandbox, as root must run it: run the agent as another user");
  }
  const hello = buildHello(config, version, { raw, ipv6: hasGlobalIpv6(), browser: chromium !== null });
  const loopLagMs = startLoopLag();
  const dnsFor = createDns({ servers: dnsServers, egress, clock, random });
  const selfTest = startSelfTest({
    canaries: createCanaries({
      dns: () =>
        dnsFor({ signal: AbortSignal.timeout(LOOK_MS), deadline: clock.monotonic() + LOOK_MS, now: () => clock.now() }),
      standing: () => attachments.standing(),
    }),
    clock,
    onLook: (results) => metrics.canaries(results),
  });
  const isInside = createInside(config.allow);
  const pool = createJobPool({
    maxJobs: config.maxJobs,
    clock,
    createNet: createJobNet,
    judge: (failure, job, remainingMs) =>
      isInside(job) ? Promise.resolve(failure) : selfTest.judge(failure, remainingMs),
    onLate: () => selfTest.prepare(),
    metrics,
    log,
    onChange: () => attachments.jobsChanged(),
  });
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return; // Ctrl-C reaches us twice: from the terminal and from npm
    stopping = true;
    log.info({ signal, running: pool.running() }, "agent draining");
    attachments.drain();
    const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    await Promise.race([pool.drain(), late]);
    await Promise.all([attachments.stop(), icmpHost.stop(), listener?.close()]);
    log.flush(() => process.exit(0));
  };
  const attachments = keepAttached({
    configured: config.controlPlane,
    credential: () => membership.identity(),
    hello: () => ({ ...hello, agentId: membership.identity().agentId }),
    pool,
    clock,
    random,
    metrics,
    log,
    loopLagMs,
    onWelcome: ({ timeMs }, controlPlane) => renewal.heard(controlPlane, timeMs),
    onRejected({ retry, message }) {
      if (retry) return;
      void membership.rejected(message).then((line) => (line === null ? undefined : fail(line)));
    },
    onUnreached(detail) {
      if (!UNTRUSTED.test(detail)) return;
      log.error("whoever answers is not of the authority this agent was enrolled with: see VANTAGE_CONTROL_PLANE");
      void membership.estranged();
    },
    onDrain: () => void stop("drain"),
  });
  const renewal = keepRenewed({
    identity: () => membership.identity(),
    onRenewed: (identity) => membership.replace(identity),
    clock,
    random,
    metrics,
    log,
  });
  metrics.read({
    jobsRunning: () => pool.running(),
    loopLag: () => loopLagMs() / 1000,
    streams: () => attachments.streams(),
    replicas: () => attachments.replicas(),
    credits: () => ({ granted: attachments.creditsGranted(), pool: config.maxJobs }),
    certificateExpiry: () => expiryOf(membership.identity()) / 1000,
    canaryAge: () => selfTest.ageSeconds(),
    rawSockets: () => ({ icmp4: icmpHost.capabilities().v4, icmp6: icmpHost.capabilities().v6 }),
  });
  const { agentId } = membership.identity();
  log.info({ agent: agentId, capabilities: hello.capabilities, metrics: listener?.port ?? null }, "agent started");

  onSignal = (signal) => void stop(signal);
  void selfTest.look();
}

/** Whether this host has an address of the IPv6 internet (2000::/3) to send from. */
function hasGlobalIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((entry) => entry?.family === "IPv6" && !entry.internal && /^[23]/.test(entry.address));
}

const read = readConfig(process.env);
if (read.ok) await main(read.config);
else fail(read.line);
