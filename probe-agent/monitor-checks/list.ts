import type { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import type { Implementation, ImplementationOf } from "#probe-agent/tools/implement.ts";

/** Loads the implementation of each monitor's check; the compiler checks that it fulfils the contract of that name. */
const loaders: {
  readonly [Name in keyof typeof MONITOR_CHECKS]: () => Promise<ImplementationOf<(typeof MONITOR_CHECKS)[Name]>>;
} = {
  "monitor-http": async () => (await import("#probe-agent/monitor-checks/monitor-http.ts")).monitorHttp,
  "monitor-dns": async () => (await import("#probe-agent/monitor-checks/monitor-dns.ts")).monitorDns,
  "monitor-ping": async () => (await import("#probe-agent/monitor-checks/monitor-ping.ts")).monitorPing,
  "monitor-port": async () => (await import("#probe-agent/monitor-checks/monitor-port.ts")).monitorPort,
  "monitor-ssl": async () => (await import("#probe-agent/monitor-checks/monitor-ssl.ts")).monitorSsl,
  "monitor-domain": async () => (await import("#probe-agent/monitor-checks/monitor-domain.ts")).monitorDomain,
  "monitor-tcp": async () => (await import("#probe-agent/monitor-checks/monitor-tcp.ts")).monitorTcp,
  "monitor-grpc": async () => (await import("#probe-agent/monitor-checks/monitor-grpc.ts")).monitorGrpc,
  "monitor-visual": async () => (await import("#probe-agent/monitor-checks/monitor-visual.ts")).monitorVisual,
  "monitor-websocket": async () => (await import("#probe-agent/monitor-checks/monitor-websocket.ts")).monitorWebsocket,
};

/** Reports whether a job's name is that of a monitor's check. */
export function isMonitorCheck(name: string): name is keyof typeof loaders {
  return Object.hasOwn(loaders, name);
}

/** Returns the implementation of a monitor's check, whose code is loaded with its first job. */
export async function loadMonitorCheck(name: keyof typeof loaders): Promise<Implementation> {
  return await loaders[name]();
}
