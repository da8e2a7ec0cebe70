import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { ENOUGH_DESCRIPTORS } from "#shared/process/descriptor-limit.ts";
import { planConnections } from "#control-plane/descriptors.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "#control-plane/dispatch/grpc/limits.ts";
import { listenGrpc, type GrpcListener } from "#control-plane/dispatch/grpc.ts";
import type { Hub } from "#control-plane/dispatch/hub.ts";
import type { Security } from "#control-plane/dispatch/security.ts";
import {
  createAuthority,
  openAuthority,
  parseCertificateRequest,
  type Authority,
} from "#control-plane/probes/authority.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";
import { makeJoinToken } from "#test/support/enrol.ts";

/** Where agents knock: a whole control plane, or a hub alone behind the real wire. */
export type AgentDoor = Pick<TestControlPlane, "grpcPort" | "operate"> | Pick<HubDoor, "grpcPort" | "admitAs">;

/** A hub's listener with real TLS and real certificates, its agents kept in memory. */
export interface HubDoor {
  readonly grpcPort: number;
  readonly listener: GrpcListener;
  /** The listener's figures. */
  readonly registry: Registry;
  /** A join token that makes its agent this one. */
  admitAs(agentId: string, region: string): string;
}

/** A join token for an agent of a region; a hub's door also lets the test choose its id. */
export function tokenFor(door: AgentDoor, region: string, agentId: string): Promise<string> {
  return "operate" in door ? makeJoinToken(door, { region }) : Promise.resolve(door.admitAs(agentId, region));
}

/** Listens for a hub under an authority of its own. */
export async function openDoor(hub: Hub, log: Logger, over: Partial<ConnectionLimits> = {}): Promise<HubDoor> {
  const authority = await openAuthority(await createAuthority(systemClock, systemRandom), systemClock, systemRandom);
  const expected = new Map<string, { agentId: string; region: string }>();
  const registry = new Registry();
  const listener = await listenGrpc({
    hub,
    address: { host: "127.0.0.1", port: 0 },
    limits: { ...CONNECTION_LIMITS, ...planConnections(ENOUGH_DESCRIPTORS), ...over },
    security: await secure(authority, expected),
    clock: systemClock,
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
  const identity = await authority.issueServer();
  const regions = new Map<string, string>();
  const issue = async (agentId: string, request: Uint8Array) => {
    const key = await parseCertificateRequest(request);
    if (key === null) return { ok: false, fault: "request", message: "no request" } as const;
    const certificate = await authority.issueClient({ ...authority.plan(), agentId }, key);
    const timeMs = Date.now();
    return { ok: true, issued: { certificate, caCertificate: authority.certificate, agentId, timeMs } } as const;
  };
  const nobody = { ok: false, fault: "identity", message: "not expected here" } as const;
  return {
    authority: authority.pem,
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
