import { monitorPing } from "#shared/monitor-checks/monitor-ping.ts";
import { HOST_TARGET, PROBE, PROBED, type Kind } from "#control-plane/outages/kinds/kind.ts";

/** Echo replies of a host. */
export const ping = {
  ...PROBED,
  label: "Ping",
  watches: "echo replies of a host",
  target: HOST_TARGET,
  evidence: { ...PROBED.evidence, isRoundTrip: true },
  words: {
    ...PROBED.words,
    causes: { "connect timeout": { code: "ping_timeout", headline: "no reply to ping", shows: "nothing" } },
  },
  probe: { ...PROBE, contract: monitorPing, params: (url) => ({ host: url }) },
} as const satisfies Kind<null>;
