import { failed, ok } from "#shared/contracts/outcome.ts";
import { monitorPort as contract } from "#shared/monitor-checks/monitor-port.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { PING_DEFAULTS } from "#probe-agent/monitor-checks/ping-defaults.ts";
import { implement, wakeIcmp } from "#probe-agent/tools/implement.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";

/** Connects to one TCP port. A port that does not answer is a failure; a closed one is an answer. */
export const monitorPort = implement(
  contract,
  async (net, params) => {
    const { host, port } = params;
    const probed = await ping.run(net, { ...PING_DEFAULTS, host, action: "ports", ports: [port], count: 1 });
    if (probed.status !== "ok") return probed;
    const { ip, elapsed_ms: elapsed, ports: [row] = [] } = probed.data;
    if (row === undefined) throw new Error("the ping tool reported no port");
    if (row.state === "filtered") {
      const reason = row.reason ?? "filtered";
      const words = reason === "timeout" ? "no answer" : `not reachable (${reason})`;
      return failed("connect", "target", reason, `port ${port} of ${ip}: ${words}`);
    }
    const fault =
      row.state === "open"
        ? null
        : ({
            stage: "connect",
            reason: "refused",
            message: `port ${port} of ${ip} is closed: it refuses connections`,
          } as const);
    // The round trip is unknown if the system may have sent a second SYN.
    const finding = { fault, responseMs: row.rtt_ms ?? elapsed, httpStatus: null, phases: null };
    return ok(await answerWith(finding, params, () => Promise.resolve(probed.data)));
  },
  wakeIcmp,
);
