import type { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { monitorDns } from "#probe-agent/monitor-checks/monitor-dns.ts";
import { monitorDomain } from "#probe-agent/monitor-checks/monitor-domain.ts";
import { monitorGrpc } from "#probe-agent/monitor-checks/monitor-grpc.ts";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { monitorPing } from "#probe-agent/monitor-checks/monitor-ping.ts";
import { monitorPort } from "#probe-agent/monitor-checks/monitor-port.ts";
import { monitorSsl } from "#probe-agent/monitor-checks/monitor-ssl.ts";
import { monitorTcp } from "#probe-agent/monitor-checks/monitor-tcp.ts";
import { monitorVisual } from "#probe-agent/monitor-checks/monitor-visual.ts";
import { monitorWebsocket } from "#probe-agent/monitor-checks/monitor-websocket.ts";
import type { ImplementationOf } from "#probe-agent/tools/implement.ts";

/** Every implementation of a monitor's check by its name; the compiler checks that it fulfils that contract. */
export const monitorChecks: {
  readonly [Name in keyof typeof MONITOR_CHECKS]: ImplementationOf<(typeof MONITOR_CHECKS)[Name]>;
} = {
  "monitor-http": monitorHttp,
  "monitor-dns": monitorDns,
  "monitor-ping": monitorPing,
  "monitor-port": monitorPort,
  "monitor-ssl": monitorSsl,
  "monitor-domain": monitorDomain,
  "monitor-tcp": monitorTcp,
  "monitor-grpc": monitorGrpc,
  "monitor-visual": monitorVisual,
  "monitor-websocket": monitorWebsocket,
};
