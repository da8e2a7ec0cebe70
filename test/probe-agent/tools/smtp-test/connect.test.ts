import { describe, expect, it } from "vitest";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { Resolved } from "#probe-agent/port/address.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { SmtpLink, SmtpPort } from "#probe-agent/port/smtp.ts";
import { connectFirst } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { jobLimits, netOf } from "#test/support/net.ts";

/** Network where every host has two addresses and every connection fails for one reason. */
function failingNet(reason: string) {
  const address = { ip: "192.0.2.1", version: 4 } as const;
  const other = { ip: "2001:db8::1", version: 6 } as const;
  const resolved: Outcome<Resolved> = ok({ host: "a.example", allowed: [address, other], blocked: [], elapsedMs: 1 });
  const dns = { resolve: () => Promise.resolve(resolved) } as unknown as DnsPort;
  const tried: string[] = [];
  const smtp: SmtpPort = {
    connect({ ip }) {
      tried.push(ip);
      return Promise.resolve<Outcome<SmtpLink>>(failed("connect", "target", reason, `${ip}: it failed`));
    },
  };
  return { net: netOf({ dns, smtp }, jobLimits(30_000)), tried };
}

describe("connecting to mail hosts", () => {
  it.each(["timeout", "unreachable", "prohibited"])(
    "to port 25 with %s everywhere adds a hint about the probe's network",
    async (reason) => {
      const { net, tried } = failingNet(reason);
      const outcome = await connectFirst(net, ["a.example", "b.example"], 25);
      expect(outcome).toMatchObject({ status: "failed", stage: "connect", source: "target", reason });
      expect(outcome.status === "failed" && outcome.message).toContain("many networks block outgoing port 25");
      expect(tried).toHaveLength(4);
    },
  );

  it.each([
    [25, "refused"],
    [587, "timeout"],
  ])("to port %i with %s has no hint", async (port, reason) => {
    const outcome = await connectFirst(failingNet(reason).net, ["a.example"], port);
    expect(outcome.status === "failed" && outcome.message).toBe("192.0.2.1: it failed");
  });

  it("stops after five hosts", async () => {
    const { net, tried } = failingNet("refused");
    await connectFirst(
      net,
      Array.from({ length: 20 }, (_none, index) => `mx${index}.example`),
      25,
    );
    expect(tried).toHaveLength(10);
  });
});
