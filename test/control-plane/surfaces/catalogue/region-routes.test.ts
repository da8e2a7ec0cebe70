import { describe, expect, it } from "vitest";
import { statusOf, type StatusFacts } from "#control-plane/checks/probes/status.ts";
import { listRegions } from "#control-plane/surfaces/catalogue/region-routes.ts";
import { targetGroup } from "#control-plane/surfaces/operator/service-discovery.ts";
import { agentOf } from "#test/control-plane/checks/probes/presence/replica.ts";

const dublin = { region: "eu-west", city: "Dublin", country: "IE", asn: 64_500, tags: ["aws", "edge"] };

describe("a probe's status", () => {
  const status = (over: Partial<StatusFacts>) =>
    statusOf({ revoked: false, enabled: true, here: null, elsewhere: { replicas: [], draining: false }, ...over });

  it("is the operator's decision, else online if any replica can give it jobs", () => {
    const elsewhere = { replicas: ["two"], draining: true };
    expect(status({})).toBe("offline");
    expect(status({ here: { draining: false } })).toBe("online");
    expect(status({ here: { draining: true } })).toBe("draining");
    expect(status({ elsewhere })).toBe("draining");
    expect(status({ here: { draining: false }, elsewhere })).toBe("online");
    expect(status({ here: { draining: false }, enabled: false })).toBe("disabled");
    expect(status({ here: { draining: false }, enabled: false, revoked: true })).toBe("revoked");
  });
});

describe("the regions of an account", () => {
  const member = (id: string, over: { online?: boolean; accountId?: number | null; city?: string } = {}) => ({
    agent: agentOf(id, "eu-west", { location: { ...dublin, city: over.city ?? "Dublin" }, capabilities: [id] }),
    online: over.online ?? true,
    accountId: over.accountId ?? null,
  });

  it("count the probes that are online for it, and show what all probes of a region have in common", () => {
    const members = [
      member("agent-one"),
      member("agent-two", { online: false, city: "Cork" }),
      member("agent-mine", { accountId: 7 }),
      member("agent-theirs", { accountId: 8 }),
    ];
    expect(listRegions(members, 7)).toEqual([
      { region: "eu-west", country: "IE", city: null, online: 2, capabilities: ["agent-mine", "agent-one"] },
    ]);
    expect(listRegions([member("agent-theirs", { accountId: 8 })], 7)).toEqual([]);
    expect(listRegions([member("agent-two", { online: false })], 7)).toMatchObject([{ online: 0, capabilities: [] }]);
  });
});

describe("a target group for Prometheus", () => {
  const row = {
    agent: agentOf("agent-one", "eu-west", {
      location: dublin,
      capabilities: ['evil"-name', "icmp4"],
      version: "1.2.3",
    }),
    status: "online",
    replicas: [],
    lastSeenAt: null,
    accountId: null,
    enrolledAt: new Date(0),
    certificateExpiresAt: new Date(0),
  } as const;

  it("names the service, and the probe in string labels with valid names", () => {
    const { targets, labels } = targetGroup(row, "https://probe.example/vantage");
    expect(targets).toEqual(["probe.example:443"]);
    expect(labels).toEqual({
      __scheme__: "https",
      __metrics_path__: "/vantage/api/v4/probe",
      __param_region: "eu-west",
      __meta_vantage_region: "eu-west",
      __meta_vantage_probe_id: "agent-one",
      __meta_vantage_country: "IE",
      __meta_vantage_city: "Dublin",
      __meta_vantage_asn: "64500",
      __meta_vantage_status: "online",
      __meta_vantage_version: "1.2.3",
      __meta_vantage_tags: ",aws,edge,",
      __meta_vantage_capability_evil__name: "true",
      __meta_vantage_capability_icmp4: "true",
    });
    for (const name of Object.keys(labels)) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
  });

  it("has the port of the base URL and brackets around IPv6, and omits unknown values", () => {
    expect(targetGroup(row, "http://[::1]:8080").targets).toEqual(["[::1]:8080"]);
    expect(targetGroup(row, "http://probe.example").targets).toEqual(["probe.example:80"]);
    const unknown = { ...row, agent: agentOf("agent-one"), accountId: 7 };
    const { labels } = targetGroup(unknown, "http://probe.example");
    expect(Object.keys(labels)).not.toContain("__meta_vantage_city");
    expect(labels).toMatchObject({ __meta_vantage_account_id: "7" });
  });
});
