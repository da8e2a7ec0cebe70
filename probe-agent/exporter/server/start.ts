import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Denials } from "#shared/internet/egress.ts";
import { createAddressRule, isMetadataAddress, literalFamily } from "#shared/egress/addresses.ts";
import type { Build } from "#shared/process/build.ts";
import { isLoopback } from "#shared/settings/address.ts";
import type { ExporterConfig } from "#probe-agent/config.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { createBodyThreads } from "#probe-agent/exporter/http/body-rules.ts";
import type { ProberContext, ProxyEnvironment } from "#probe-agent/exporter/probe.ts";
import { createHandler } from "#probe-agent/exporter/server/handler.ts";
import { openListeners } from "#probe-agent/exporter/server/listen.ts";
import { createExporterMetrics } from "#probe-agent/exporter/server/metrics.ts";
import { loadModules } from "#probe-agent/exporter/server/modules.ts";
import { createPasswords } from "#probe-agent/exporter/server/passwords.ts";
import { loadWebConfig, NO_WEB_CONFIG, type WebConfig } from "#probe-agent/exporter/server/web-config.ts";

/** What an exporter needs from its process. */
interface ExporterDeps {
  readonly config: ExporterConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly optOut: Denials;
  readonly icmpHost: IcmpHost;
  readonly userAgent: string;
  readonly proxyEnvironment: ProxyEnvironment;
  readonly build: Build;
  readonly warn: (line: string) => void;
  readonly fault: (error: unknown) => void;
}

/** A running exporter. */
export interface Exporter {
  readonly ports: readonly number[];
  /** Reads its files again. */
  reload(): void;
  close(): Promise<void>;
}

/** Starts an exporter, or returns the lines that say what is wrong: with a file, a listener or an address. */
export async function startExporter(
  deps: ExporterDeps,
): Promise<
  { readonly ok: true; readonly exporter: Exporter } | { readonly ok: false; readonly lines: readonly string[] }
> {
  const { config, clock, random } = deps;
  const modules = loadModules(config.configFile);
  const web = config.webConfigFile === null ? null : loadWebConfig(config.webConfigFile);
  const faults = [...(modules.ok ? [] : modules.lines), ...(web === null || web.ok ? [] : web.lines)];
  if (!modules.ok || web?.ok === false) return { ok: false, lines: faults };
  let current: WebConfig = web?.config ?? NO_WEB_CONFIG;
  const context: ProberContext = {
    clock,
    random,
    allows: createTargetRule(config, deps.optOut),
    deniesName: (name) => deps.optOut.deniesName(name),
    allowsRedirect: ({ hostname }) => !deps.optOut.deniesName(hostname),
    icmpHost: deps.icmpHost,
    userAgent: deps.userAgent,
    proxyEnvironment: deps.proxyEnvironment,
    bodyThreads: createBodyThreads(clock),
    roots: null,
  };
  const { build, warn, fault } = deps;
  const metrics = createExporterMetrics(build);
  const handler = createHandler({ config, modules, context, metrics, version: build.version, warn, fault });
  const passwords = createPasswords(clock, random);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(current.headers)) response.setHeader(name, value);
    if (current.users.size === 0) return handler.handle(request, response);
    passwords.check(request.headers.authorization, current.users).then(
      (isUser) => {
        if (isUser) return handler.handle(request, response);
        response.writeHead(401, { "www-authenticate": "Basic", "content-type": "text/plain; charset=utf-8" });
        return response.end("Unauthorized\n");
      },
      (error: unknown) => {
        fault(error);
        response.destroy();
      },
    );
  };
  const listeners = await openListeners(config.addresses, current, handle);
  if ("line" in listeners) return { ok: false, lines: [listeners.line] };
  return {
    ok: true,
    exporter: {
      ports: listeners.ports,
      reload() {
        handler.reload();
        if (config.webConfigFile === null) return;
        const read = loadWebConfig(config.webConfigFile);
        if (!read.ok) for (const line of read.lines) warn(`the web configuration is kept as it is: ${line}`);
        else if ((read.config.tls === null) !== (current.tls === null)) {
          warn("the web configuration is kept as it is: TLS is switched on and off by a restart");
        } else {
          current = read.config;
          listeners.update(current);
        }
      },
      close: () => listeners.close(),
    },
  };
}

/**
 * Creates the rule of allowed addresses. Private targets are allowed where only this host can ask, else those that the
 * operator lists. Metadata services of clouds give away credentials of the machine: they are never probed.
 */
export function createTargetRule(
  { addresses, allowTargets }: ExporterConfig,
  optOut: Denials,
): (ip: string) => boolean {
  const isPrivate = addresses.every(({ host }) => isLoopback(host));
  const allows = allowTargets === null && isPrivate ? isPlainLiteral : createAddressRule(allowTargets ?? []);
  return (ip) => allows(ip) && !isMetadataAddress(ip) && !optOut.deniesAddress(ip);
}

/** An IPv4-mapped address is a second spelling, by which a rule for the first one would not hold. */
function isPlainLiteral(ip: string): boolean {
  return literalFamily(ip) !== null && !/^::ffff:/i.test(ip);
}
