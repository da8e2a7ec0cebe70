// The agent's process: environment -> config -> state -> network -> attach -> drain. The only file of it that touches the
// environment, the host's clock and randomness.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import { createEgress } from "#shared/egress.ts";
import { createLog } from "#shared/process/log.ts";
import { listenMetrics } from "#shared/process/metrics-listener.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { formatAddress } from "#shared/settings/address.ts";
import { PROTOCOL } from "#shared/wire.ts";
import { keepAttached } from "#probe-agent/attachments.ts";
import { readConfig, type Config, type PlaceConfig } from "#probe-agent/config.ts";
import { createJobPool } from "#probe-agent/jobs.ts";
import { createAgentMetrics } from "#probe-agent/metrics.ts";
import { createNet } from "#probe-agent/net/create.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import { userAgent } from "#probe-agent/net/user-agent.ts";
import { openState } from "#probe-agent/state.ts";
import { readTrustAnchors } from "#probe-agent/trust-anchors.ts";

const clock: Clock = { now: () => new Date(), monotonic: () => performance.now() };
const random: Random = { bytes: (count) => randomBytes(count) };

/** Jobs under way get so long to finish (decisions 7, Drain). */
const DRAIN_MS = 30_000;

function fail(line: string): never {
  process.stderr.write(`vantage agent: ${line}\n`);
  process.exit(1);
}

async function main(config: Config): Promise<void> {
  const trusted = readTrustAnchors(config.files.trustAnchors);
  if (!trusted.ok) fail(trusted.fault);
  const opened = openState(config.stateDir, process.pid, random);
  if (!opened.ok) fail(opened.line);
  const { state } = opened;
  const { agentId } = state;
  process.on("exit", () => state.release());

  const log = createLog().child({ region: config.place.region });
  const { version, homepage } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
    homepage: string;
  };
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "vantage_agent_" });
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

  const icmpHost = startIcmpHost({ clock, log: (line) => log.warn(line) });
  const raw = await icmpHost.ready();
  const createJobNet = createNet({
    clock,
    random,
    egress: createEgress(config.allow),
    icmpHost,
    dnsServers: (config.dnsServers ?? []).map(formatAddress),
    userAgent: userAgent(version, config.contactUrl ?? homepage),
    services: { rdapBootstrapUrl: config.sources.rdapBootstrapUrl, cymruZones: config.sources.cymruZones },
    trustAnchors: trusted.anchors,
  });
  const hello: Hello = {
    protocol: PROTOCOL,
    agentId,
    version,
    location: locationOf(config.place),
    capabilities: [
      ...(raw.v4 ? ["icmp4"] : []),
      ...(raw.v6 ? ["icmp6"] : []),
      ...(raw.v4 || raw.v6 ? ["traceroute"] : []),
      ...(hasGlobalIpv6() ? ["ipv6"] : []),
    ],
    allowTargets: [...config.allow.targets],
    allowNames: [...config.allow.names],
    credits: config.maxJobs,
    maxJobs: config.maxJobs,
  };
  const lag = monitorEventLoopDelay({ resolution: 20 });
  lag.enable();
  const loopLagMs = (): number => {
    const worst = lag.max / 1e6;
    lag.reset();
    return Number.isFinite(worst) ? worst : 0;
  };
  const pool = createJobPool({
    maxJobs: config.maxJobs,
    clock,
    createNet: createJobNet,
    judge: (failure) => Promise.resolve(failure),
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
    credential: () => null,
    hello: () => hello,
    pool,
    clock,
    random,
    metrics,
    log,
    loopLagMs,
    onWelcome: () => {},
    onRejected: ({ retry, message }) => (retry ? undefined : fail(message)),
    onUnreached: () => {},
    onDrain: () => void stop("drain"),
  });
  metrics.read({
    jobsRunning: () => pool.running(),
    loopLag: () => loopLagMs() / 1000,
    streams: () => attachments.streams(),
    replicas: () => attachments.replicas(),
    credits: () => ({ granted: attachments.creditsGranted(), pool: config.maxJobs }),
    certificateExpiry: () => Number.NaN,
    canaryAge: () => null,
  });
  log.info({ agent: agentId, capabilities: hello.capabilities, metrics: listener?.port ?? null }, "agent started");

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(signal));
}

function locationOf({ region, city, country, latitude, longitude, asn, tags }: PlaceConfig): Hello["location"] {
  return {
    region,
    city: city ?? "",
    country: country ?? "",
    asn: asn ?? 0,
    tags: [...tags],
    ...(latitude === null ? {} : { latitude }),
    ...(longitude === null ? {} : { longitude }),
  };
}

/** Whether this host has an address of the IPv6 internet (2000::/3) to send from. */
function hasGlobalIpv6(): boolean {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((entry) => entry?.family === "IPv6" && !entry.internal && /^[23]/.test(entry.address));
}

const read = readConfig(process.env);
if (read.ok) await main(read.config);
else fail(read.line);
