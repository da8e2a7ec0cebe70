import { status } from "@grpc/grpc-js";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import {
  callEnroll,
  callRenew,
  enrol,
  fetchAuthority,
  identityOf,
  makeJoinToken,
  makeRequest,
  type AgentIdentity,
} from "#test/support/enrol.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { issue } from "#test/servers/pki.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const agents: ScriptedAgent[] = [];

const first = await stopAfterAll(startControlPlane());
const second = await stopAfterAll(startControlPlane({ databaseUrl: first.databaseUrl }));

afterAll(async () => {
  for (const agent of agents) agent.cut();
});

/** Attaches with an identity, by default to the first replica. */
async function attach(own: AgentIdentity, region: string, plane = first, agentId = own.agentId) {
  const agent = await startScriptedAgent(
    plane.grpcPort,
    helloOf(region, { agentId }),
    clientCredentials(own.caCertificate, own),
  );
  agents.push(agent);
  return agent;
}

/** Returns the kind of the hub's first message, or the reason why there was none. */
function firstMessage(agent: ScriptedAgent): unknown {
  const body = agent.messages[0]?.body;
  if (body === undefined) return null;
  return body.$case === "rejected" ? body.value : body.$case;
}

describe("attaching", () => {
  it("works for an enrolled agent, on any replica", async () => {
    const own = await enrol(first, "eu-west");
    expect(own.agentId).toMatch(/^eu-west-[0-9a-f]{12}$/);
    expect(firstMessage(await attach(own, "eu-west"))).toBe("welcome");
    expect(firstMessage(await attach(own, "eu-west", second))).toBe("welcome");
  });

  it("is refused if the hello names another agent or region", async () => {
    const own = await enrol(first, "eu-north");
    const other = await enrol(first, "eu-north");
    const identity = { reason: "identity", retry: false };
    expect(firstMessage(await attach(own, "eu-north", first, other.agentId))).toMatchObject(identity);
    expect(firstMessage(await attach(own, "eu-south"))).toMatchObject(identity);
    expect(firstMessage(await attach(own, "eu-north"))).toBe("welcome");
  });

  it("is refused without a certificate and with one of another authority", async () => {
    const own = await enrol(first, "us-east");
    const none = await startScriptedAgent(
      first.grpcPort,
      helloOf("us-east", { agentId: own.agentId }),
      clientCredentials(own.caCertificate),
    );
    expect(firstMessage(none)).toMatchObject({ reason: "identity", retry: false });
    const root = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const forged = await issue({ issuer: root, subject: `CN=${own.agentId}` });
    const foreign = { ...own, certificate: forged.pem, privateKey: forged.keyPem };
    expect(firstMessage(await attach(foreign, "us-east"))).toMatchObject({ reason: "identity", retry: false });
    const metrics = await first.app.metrics.registry.metrics();
    expect(metrics).toMatch(/vantage_agents_rejected_total\{reason="identity"\} [2-9]/);
  });

  it("is refused if the certificate has expired, by the host's clock or by the database's", async () => {
    let shiftDays = -31;
    const clock = { ...systemClock, now: () => new Date(Date.now() + shiftDays * 86_400_000) };
    const { databaseUrl } = first;
    const other = await startControlPlane({ databaseUrl, overrides: { clock } });
    const old = await enrol(other, "us-west");
    const own = await enrol(first, "us-west");
    expect(firstMessage(await attach(old, "us-west"))).toMatchObject({ reason: "identity", retry: false });
    shiftDays = 31;
    expect(firstMessage(await attach(own, "us-west", other))).toMatchObject({ reason: "identity", retry: false });
    for (const [plane, expired] of [
      [first, old],
      [other, own],
    ] as const) {
      const { der } = await makeRequest();
      const renewing = callRenew(plane.grpcPort, expired.caCertificate, expired, der);
      await expect(renewing).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    }
    await other.stop();
  });
});

describe("revoking", () => {
  it("closes the open streams, on the replica of the request and on the other", async () => {
    const own = await enrol(first, "ap-south");
    const streams = [await attach(own, "ap-south"), await attach(own, "ap-south", second)];
    const path = `/api/admin/probes?id=${own.agentId}`;
    expect((await first.operate("DELETE", path)).body.data).toEqual({ id: own.agentId, revoked: true });
    for (const stream of streams) {
      await stream.ended;
      expect(stream.messages.at(-1)?.body).toMatchObject({
        $case: "rejected",
        value: { reason: "revoked", retry: false },
      });
    }
    expect(firstMessage(await attach(own, "ap-south", second))).toMatchObject({ reason: "revoked", retry: false });
    await expect(callRenew(second.grpcPort, own.caCertificate, own, (await makeRequest()).der)).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    // A second time, and for an agent that never existed.
    expect((await second.operate("DELETE", path)).status).toBe(200);
    expect((await second.operate("PUT", path, { enabled: true })).status).toBe(404);
    expect((await second.operate("DELETE", "/api/admin/probes?id=nobody-here")).status).toBe(404);
  });

  it("also applies to the private agents of an erased account", async () => {
    const account = (await first.operate("POST", "/api/admin/accounts", { email: "a@example.com", plan: "pro" })).body
      .data as { id: number };
    const own = await enrol(first, "lab", { account_id: account.id });
    const bystander = await attach(await enrol(first, "lab"), "lab", second);
    const stream = await attach(own, "lab", second);
    const erased = await first.operate("DELETE", `/api/admin/accounts?id=${account.id}&export=1`);
    expect((erased.body.data as { export: unknown }).export).toMatchObject({
      probes: [{ id: own.agentId, region: "lab", enabled: true, revoked_at: null }],
    });
    await stream.ended;
    expect(stream.messages.at(-1)?.body).toMatchObject({ $case: "rejected", value: { reason: "revoked" } });
    expect(bystander.messages.some(({ body }) => body?.$case === "rejected")).toBe(false);
    expect(firstMessage(await attach(own, "lab"))).toMatchObject({ reason: "revoked", retry: false });
  });

  it("differs from disabling: a disabled agent stays attached", async () => {
    const own = await enrol(first, "sa-east");
    const stream = await attach(own, "sa-east", second);
    const path = `/api/admin/probes?id=${own.agentId}`;
    expect((await first.operate("PUT", path, { enabled: false })).body.data).toEqual({
      id: own.agentId,
      region: "sa-east",
      account_id: null,
      enabled: false,
    });
    expect(firstMessage(await attach(own, "sa-east", second))).toBe("welcome");
    expect((await first.operate("PUT", path, { enabled: true })).body.data).toMatchObject({ enabled: true });
    expect(stream.messages.some(({ body }) => body?.$case === "rejected")).toBe(false);
  });
});

describe("renewing", () => {
  it("gives a running agent its next certificate while the previous one is still valid", async () => {
    const own = await enrol(first, "af-south");
    const request = await makeRequest();
    const renewed = identityOf(await callRenew(second.grpcPort, own.caCertificate, own, request.der), request);
    expect(renewed.agentId).toBe(own.agentId);
    expect(renewed.certificate).not.toBe(own.certificate);
    expect(firstMessage(await attach(own, "af-south"))).toBe("welcome");
    expect(firstMessage(await attach(renewed, "af-south"))).toBe("welcome");
    // The answer got lost and the agent asks again: its present certificate is valid, the lost one is not.
    const again = identityOf(await callRenew(first.grpcPort, own.caCertificate, own, request.der), request);
    expect(firstMessage(await attach(own, "af-south"))).toBe("welcome");
    expect(firstMessage(await attach(again, "af-south"))).toBe("welcome");
    expect(firstMessage(await attach(renewed, "af-south"))).toMatchObject({ reason: "identity", retry: false });
    const stolen = callRenew(first.grpcPort, own.caCertificate, renewed, request.der);
    await expect(stolen).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });

  it("needs a certificate", async () => {
    const own = await enrol(first, "af-north");
    await expect(callRenew(first.grpcPort, own.caCertificate, null, (await makeRequest()).der)).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
  });
});

it("refuses invalid tokens, all with the same message", async () => {
  const token = await makeJoinToken(first, { region: "eu-west" });
  const authority = await fetchAuthority(first.grpcPort, token);
  await callEnroll(second.grpcPort, authority, token, (await makeRequest()).der);
  const { der } = await makeRequest();
  const words = new Set<string>();
  for (const bad of [token, `vjt_${"x".repeat(43)}_${token.slice(-64)}`, "", "x".repeat(100_000)]) {
    const error = await callEnroll(first.grpcPort, authority, bad, der).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: status.UNAUTHENTICATED });
    words.add((error as { details: string }).details);
  }
  expect(words.size).toBe(1);
});
