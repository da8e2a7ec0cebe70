import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { ENOUGH_DESCRIPTORS } from "#shared/process/descriptor-limit.ts";
import { planConnections } from "#control-plane/checks/descriptors.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "#control-plane/checks/dispatch/grpc/limits.ts";
import { listenGrpc, type GrpcListener } from "#control-plane/checks/dispatch/grpc.ts";
import type { Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { Security } from "#control-plane/checks/dispatch/security.ts";
import {
  createAuthority,
  openAuthority,
  parseCertificateRequest,
  type Authority,
} from "#control-plane/checks/probes/authority.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";
import { makeJoinToken } from "#test/support/enrol.ts";

/**
 * A listener that agents can attach to: a whole control plane, or a hub with the real protocol and its agents in
 * memory.
 */
export type AgentListener = Pick<TestControlPlane, "grpcPort" | "operate"> | Pick<HubListener, "grpcPort" | "admitAs">;

/** Listener of a hub with real TLS and certificates. Its agents are kept in memory. */
export interface HubListener {
  readonly grpcPort: number;
  readonly listener: GrpcListener;
  /** Metrics of the listener. */
  readonly registry: Registry;
  /** Returns a join token whose agent gets this id. */
  admitAs(agentId: string, region: string): string;
}

/** Returns a join token for an agent of a region. With a hub's listener, the test chooses the agent's id too. */
export function tokenFor(server: AgentListener, region: string, agentId: string): Promise<string> {
  return "operate" in server ? makeJoinToken(server, { region }) : Promise.resolve(server.admitAs(agentId, region));
}

/** Starts a listener for a hub with a new authority. */
export async function listenForAgents(
  hub: Hub,
  log: Logger,
  over: Partial<ConnectionLimits> = {},
  clock: Clock = systemClock,
): Promise<HubListener> {
  const authority = await openAuthority(await createAuthority(systemClock, systemRandom), systemClock, systemRandom);
  const expected = new Map<string, { agentId: string; region: string }>();
  const registry = new Registry();
  const listener = await listenGrpc({
    hub,
    address: { host: "127.0.0.1", port: 0 },
    limits: { ...CONNECTION_LIMITS, ...planConnections(ENOUGH_DESCRIPTORS), ...over },
    security: await secure(authority, expected),
    clock,
    log,
    registry,
  });
  return {
    registry,
    grpcPort: listener.port,
    listener,
    admitAs(agentId, region) {
      const secret = createHash("sha256").update(`${agentId} ${expected.size}`).digest("base64url");
      const token = `vjt_${secret}_${authority.fingerprint}`;
      expected.set(token, { agentId, region });
      return token;
    },
  };
}

async function secure(
  authority: Authority,
  expected: ReadonlyMap<string, { agentId: string; region: string }>,
): Promise<Security> {
  const identity = { ...(await authority.issueServer()), authorities: [authority.pem] };
  const regions = new Map<string, string>();
  const issue = async (agentId: string, request: Uint8Array) => {
    const key = await parseCertificateRequest(request);
    if (key === null) return { ok: false, fault: "request", message: "no request" } as const;
    const certificate = await authority.issueClient({ ...authority.plan(), agentId }, key);
    const ca = { caCertificate: authority.certificate, leavingCaCertificate: new Uint8Array() };
    return { ok: true, issued: { certificate, ...ca, agentId, timeMs: Date.now() } } as const;
  };
  const nobody = { ok: false, fault: "identity", message: "not expected here" } as const;
  return {
    authorities: () => [],
    identity: { current: () => identity, onRenew: () => {} },
    enrolment: {
      enroll(token, request) {
        const agent = expected.get(token);
        if (agent === undefined) return Promise.resolve(nobody);
        regions.set(agent.agentId, agent.region);
        return issue(agent.agentId, request);
      },
      renew(certificate, request) {
        const holder = certificate === null ? null : authority.identify(certificate);
        return holder === null ? Promise.resolve(nobody) : issue(holder.agentId, request);
      },
    },
    gatekeeper: {
      admit(certificate) {
        const agentId = certificate === null ? undefined : authority.identify(certificate)?.agentId;
        const region = agentId === undefined ? undefined : regions.get(agentId);
        if (agentId === undefined || region === undefined) {
          return Promise.resolve({ ok: false, rejection: { reason: "identity", message: "a stranger", retry: false } });
        }
        return Promise.resolve({ ok: true, enrolled: { agentId, region, accountId: null, enabled: true } });
      },
      onChange: () => {},
    },
  };
}
