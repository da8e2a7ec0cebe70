import { ok, refused } from "#shared/contracts/outcome.ts";
import type { Egress } from "#shared/internet/egress.ts";
import type { Module } from "#shared/blackbox/module.ts";
import { createBodyThreads } from "#probe-agent/exporter/http/body-rules.ts";
import type { ProberContext } from "#probe-agent/exporter/probe.ts";
import { runProbe } from "#probe-agent/exporter/server/run-probe.ts";
import type { BlackboxPort } from "#probe-agent/port/blackbox.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";

/** What the probes of jobs need from the process. */
interface BlackboxDeps extends Pick<
  ProberContext,
  "clock" | "random" | "icmpHost" | "userAgent" | "proxyEnvironment" | "roots"
> {
  readonly egress: Egress;
}

/** Maximum octets of a body that a job reads: users of the control plane choose the target. */
const MOST_BODY = 16 * 1024 * 1024;

/** Creates the port of the exporter's probers. Each job gets one within its limits. */
export function createBlackbox({ egress, ...deps }: BlackboxDeps): (limits: JobLimits) => BlackboxPort {
  const context: ProberContext = {
    ...deps,
    allows: (ip) => egress.allowsAddress(ip),
    deniesName: (name) => !egress.checkHost(name, { connects: true }).ok,
    allowsRedirect: ({ href }) => egress.checkUrl(href).ok,
    bodyThreads: createBodyThreads(deps.clock),
  };
  return ({ signal }) => ({
    async probe({ module, target, timeoutMs }) {
      // Of a URL the rules have more to say than of an address, and through a proxy no address may be known.
      if (module.prober === "http" && !egress.checkUrl(completed(target)).ok) return refused;
      if (!proxiesOf(module).every((url) => mayPass(url, egress))) return refused;
      const startedAt = deps.clock.monotonic();
      // The duration of a probe must not contain the start of the ICMP process.
      if (module.prober === "icmp") await Promise.race([deps.icmpHost.ready(), cancelled(signal)]);
      const leftMs = Math.max(1, timeoutMs - (deps.clock.monotonic() - startedAt));
      const order = { module: withBodyLimit(module), target, timeoutMs: leftMs, abandoned: signal };
      const { verdict, metrics } = await runProbe(order, context);
      return verdict === "refused" ? refused : ok({ verdict, metrics });
    },
  });
}

/** Returns the URL that a target of http means. */
function completed(target: string): string {
  return /^https?:\/\//.test(target) ? target : `http://${target}`;
}

function proxiesOf(module: Module): readonly string[] {
  if (module.prober !== "http") return [];
  const { proxy, oauth2 } = module.options;
  return [proxy.proxy_url, oauth2?.proxy.proxy_url].filter((url) => typeof url === "string");
}

/**
 * Reports whether a proxy can be used. Probers connect to any address of one, so a name must be among those that the
 * agent's operator lists.
 */
function mayPass(proxy: string, egress: Egress): boolean {
  const check = egress.checkHost(new URL(proxy).hostname, { connects: true });
  return check.ok && (check.literal || egress.lists(check.host));
}

function withBodyLimit(module: Module): Module {
  if (module.prober !== "http") return module;
  const { body_size_limit: limit } = module.options;
  const most = limit === 0 ? MOST_BODY : Math.min(limit, MOST_BODY);
  return { ...module, options: { ...module.options, body_size_limit: most } };
}
