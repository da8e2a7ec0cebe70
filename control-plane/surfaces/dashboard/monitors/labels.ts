import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { ListedState } from "#control-plane/monitors/overview.ts";

/** The label and the tone of each state. */
export const STATE_LABELS: Readonly<Record<ListedState, { readonly word: string; readonly tone: string }>> = {
  down: { word: "Down", tone: "bad" },
  degraded: { word: "Degraded", tone: "warn" },
  unknown: { word: "Unknown", tone: "" },
  up: { word: "Up", tone: "good" },
  paused: { word: "Paused", tone: "" },
};

/** The label of each kind. */
export const KIND_LABELS: Readonly<Record<CheckType, string>> = {
  http: "HTTP",
  keyword: "Keyword",
  ssl: "Certificate",
  domain: "Domain",
  dns: "DNS",
  ping: "Ping",
  port: "Port",
  tcp: "TCP",
  grpc: "gRPC",
  websocket: "WebSocket",
  visual: "Picture",
  heartbeat: "Heartbeat",
  composite: "Composite",
};
