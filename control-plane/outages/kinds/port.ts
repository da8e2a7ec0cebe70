import { monitorPort } from "#shared/monitor-checks/monitor-port.ts";
import { HOST_TARGET, PROBE, PROBED, type Kind } from "#control-plane/outages/kinds/kind.ts";

/** A TCP port that accepts connections. */
export const port = {
  ...PROBED,
  label: "Port",
  watches: "a TCP port",
  target: HOST_TARGET,
  fields: ["port"],
  portNote: "TCP port that must be open. Required for this check type",
  required: { port: "the TCP port to check" },
  evidence: { ...PROBED.evidence, isRoundTrip: true },
  probe: { ...PROBE, contract: monitorPort, params: (url, settings) => ({ host: url, port: settings.port }) },
} as const satisfies Kind<null>;
