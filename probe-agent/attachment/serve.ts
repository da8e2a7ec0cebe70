import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { keepAttached } from "#probe-agent/attachment/attachments.ts";
import { createCanaries, type CanaryOptions } from "#probe-agent/attachment/canaries.ts";
import { createJobPool } from "#probe-agent/attachment/job-pool.ts";
import { startSelfTest } from "#probe-agent/attachment/self-test.ts";
import type { LoopWatch } from "#probe-agent/loop-watch.ts";
import type { Config } from "#probe-agent/config.ts";
import { expiryOf, trustsOnly } from "#probe-agent/membership/identity.ts";
import { isUntrusted, type Membership } from "#probe-agent/membership/membership.ts";
import { keepRenewed } from "#probe-agent/membership/renewal.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { startLoopLag } from "#probe-agent/metrics/loop-lag.ts";
import type { IcmpCapabilities } from "#probe-agent/net/icmp/messages.ts";
import type { NetFactory, Job } from "#probe-agent/run-job.ts";
import { isIP } from "node:net";
import { NO_ALLOW_LISTS, createEgress, type AllowLists } from "#shared/internet/egress.ts";
import { createSuffixRule } from "#shared/egress/names.ts";
import { siteUrls } from "#shared/internet/target-url.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";

/** Dependencies of the agent's service. */
interface ServeOptions {
  readonly config: Pick<Config, "controlPlane" | "maxJobs" | "allow">;
  readonly membership: Membership;
  readonly hello: Omit<Hello, "agentId">;
  readonly createNet: NetFactory;
  /** DNS of the self-test, limited to one test. */
  readonly selfTestDns: CanaryOptions["dns"];
  /** Returns the current state of the ICMP process's raw sockets. */
  readonly rawSockets: () => IcmpCapabilities;
  readonly clock: Clock;
  readonly loop: LoopWatch;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Called when a control plane has accepted the agent. */
  readonly onAttached: () => void;
  /** Returns the newest lines of the log, for the operator. */
  readonly logLines: () => readonly string[];
  /** Called when the control plane permanently refuses this agent. `line` tells the operator why. */
  readonly onRefused: (line: string) => void;
  /** Called when the operator has asked the control plane to drain this agent. */
  readonly onDrain: () => void;
}

/** A running agent. */
interface Service {
  /** Counts running jobs. */
  running(): number;
  /** Declines new jobs. Resolves when the last one has ended. */
  drain(): Promise<void>;
  /** Stops every stream, the self-test and the renewal. */
  stop(): Promise<void>;
}

/** Attaches to the control plane and runs its jobs until it is stopped. */
export function serveControlPlane(options: ServeOptions): Service {
  const { config, membership, hello, createNet, clock, random, metrics, log } = options;
  const loopLag = startLoopLag(clock);
  const isInside = createInside(config.allow);
  const selfTest = startSelfTest({
    canaries: createCanaries({ dns: options.selfTestDns, attachedAddresses: () => attachments.attachedAddresses() }),
    clock,
    onResults: (results) => metrics.canaries(results),
  });
  const pool = createJobPool({
    maxJobs: config.maxJobs,
    clock,
    createNet,
    correctSource: async (failure, job, remainingMs) =>
      (await isInside(job)) ? failure : await selfTest.correctSource(failure, remainingMs),
    loop: options.loop,
    onLate: () => selfTest.prepare(),
    metrics,
    log,
    onChange() {
      loopLag.watchClosely(pool.running() > 0);
      attachments.jobsChanged();
    },
  });
  const renewal = keepRenewed({
    identity: () => membership.identity(),
    onRenewed: (identity) => membership.replace(identity),
    clock,
    random,
    metrics,
    log,
  });
  const attachments = keepAttached({
    configured: config.controlPlane,
    credential: () => membership.identity(),
    hello: () => ({ ...hello, agentId: membership.identity().agentId }),
    pool,
    clock,
    random,
    metrics,
    log,
    logLines: options.logLines,
    loopLagMs: () => loopLag.worstMs(),
    onWelcome({ timeMs, authorities }, controlPlane) {
      renewal.recordTime(controlPlane, timeMs);
      if (authorities.length > 0 && !trustsOnly(membership.identity(), authorities)) renewal.makeDue();
      options.onAttached();
    },
    onRejected({ retry, message }) {
      if (retry) return;
      void membership.onRejected(message).then((line) => (line === null ? undefined : options.onRefused(line)));
    },
    onUnreached(detail) {
      if (!isUntrusted(detail)) return;
      log.error(
        { controlPlane: config.controlPlane, detail },
        "the server's certificate is not from the authority that enrolled this agent: check VANTAGE_CONTROL_PLANE, or set a new VANTAGE_JOIN_TOKEN if the authority was replaced",
      );
      void membership.onForeignAuthority();
    },
    onDrain: () => options.onDrain(),
  });
  metrics.read({
    jobsRunning: () => pool.running(),
    loopLag: () => loopLag.worstMs() / 1000,
    streams: () => attachments.streams(),
    replicas: () => attachments.replicas(),
    credits: () => ({ granted: attachments.creditsGranted(), pool: config.maxJobs }),
    certificateExpiry: () => expiryOf(membership.identity()) / 1000,
    canaryAge: () => selfTest.ageSeconds(),
    rawSockets: () => ({ icmp4: options.rawSockets().v4, icmp6: options.rawSockets().v6 }),
  });
  void selfTest.run();
  return {
    running: () => pool.running(),
    drain() {
      attachments.drain();
      return pool.drain();
    },
    async stop() {
      selfTest.stop();
      renewal.stop();
      await attachments.stop();
    },
  };
}

const publicOnly = createEgress(NO_ALLOW_LISTS);

/**
 * Creates a test for targets that only the operator's allow lists permit. Such targets are in internal networks, which
 * work even without internet access. The test does not recognize a name that is internal only by its addresses.
 */
export function createInside(allow: AllowLists): (job: Pick<Job, "tool" | "params">) => Promise<boolean> {
  const egress = createEgress(allow);
  const isListedName = createSuffixRule(allow.names);
  return async ({ tool, params }) => {
    const contract = (await loadImplementation(tool))?.contract;
    if (contract === undefined || contract.target === null) return false;
    const { param, kind } = contract.target;
    const target = (JSON.parse(params) as Readonly<Record<string, unknown>>)[param];
    if (typeof target !== "string") return false;
    const host = kind === "url" || kind === "site" ? hostOf(siteUrls(target)[0]) : target;
    if (isIP(host) !== 0) return egress.allowsAddress(host) && !publicOnly.allowsAddress(host);
    return isListedName(host.toLowerCase().replace(/\.$/, ""));
  };
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
}
