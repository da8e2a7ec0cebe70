import { describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorTcp } from "#probe-agent/monitor-checks/monitor-tcp.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor } from "#test/support/monitor-check.ts";

describe("the dialogue of a monitor", () => {
  it.each<[object, string]>([
    [{ tls: "starttls" }, "tls must be none or implicit without preset: starttls needs one"],
    [{ preset: "smtp", send: "x" }, "send must be null with preset smtp, which has its own dialogue"],
    [{ preset: "ssh", expect: "x" }, "expect must be null with preset ssh, which has its own dialogue"],
    [{ preset: "ssh", tls: "implicit" }, "tls must be none with preset ssh"],
    [{ preset: "redis", tls: "starttls" }, "tls must be none or implicit with preset redis"],
  ])("%j is refused", (given, words) => {
    const dialogue = { preset: null, send: null, expect: null, tls: "none", ...given };
    const problem = monitorTcp.contract.refine?.(dialogue as never);
    expect(`${problem?.field} ${problem?.message}`).toBe(words);
  });
});

describe("a text to a port of mail", () => {
  const LISTED = "127.77.25.1";
  const send = "HELO me\r\n";

  it("is sent to addresses in the ranges of the operator, whatever names them, and to no others", async () => {
    const server = await startWireServer("250 hello\r\n", { host: LISTED, port: 2525 });
    const names = await startDnsServer({
      zones: {
        "in.example.net": { A: [LISTED] },
        "out.example.net": { A: ["93.184.216.34"] },
        "both.example.net": { A: [LISTED, "93.184.216.34"] },
      },
    });
    const egress = createEgress({ targets: ["127.0.0.0/8"], names: [] });
    const checkAt = (host: string, given: object = {}) =>
      runMonitor(
        monitorTcp,
        { host, port: 2525, send, expect: "250", send_limited: true, ...given },
        { egress, dnsServers: [names.address] },
      );
    for (const host of [LISTED, "in.example.net"])
      expect(await checkAt(host)).toMatchObject({ data: { verdict: "up" } });
    const inHex = { send: null, send_hex: "48454c4f0d0a" };
    for (const [host, given] of [
      ["93.184.216.34", {}],
      ["out.example.net", {}],
      ["both.example.net", {}],
      ["out.example.net", inHex],
    ] as const) {
      const outcome = await checkAt(host, given);
      expect(failureOf(outcome), host).toBe("connect/target/target_not_allowed");
      expect(outcome).toMatchObject({ message: expect.stringContaining("VANTAGE_ALLOW_TARGETS") });
    }
    expect(server.accepted()).toBe(2);
    // The monitors of an earlier release.
    expect(await checkAt("both.example.net", { send_limited: undefined, host: LISTED })).toMatchObject({
      status: "ok",
    });
    await Promise.all([server.close(), names.close()]);
  });
});
