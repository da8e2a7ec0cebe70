import { monitorDns } from "#shared/monitor-checks/monitor-dns.ts";
import { monitorDomain } from "#shared/monitor-checks/monitor-domain.ts";
import { monitorGrpc } from "#shared/monitor-checks/monitor-grpc.ts";
import { monitorHttp } from "#shared/monitor-checks/monitor-http.ts";
import { monitorPing } from "#shared/monitor-checks/monitor-ping.ts";
import { monitorPort } from "#shared/monitor-checks/monitor-port.ts";
import { monitorSsl } from "#shared/monitor-checks/monitor-ssl.ts";
import { monitorTcp } from "#shared/monitor-checks/monitor-tcp.ts";
import { monitorVisual } from "#shared/monitor-checks/monitor-visual.ts";
import { monitorWebsocket } from "#shared/monitor-checks/monitor-websocket.ts";

/** Every contract of a monitor's check by its name. */
export const MONITOR_CHECKS = {
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
